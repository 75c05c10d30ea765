// SPDX-License-Identifier: Apache-2.0
// rt/abi/system.cpp — output, system calls, entropy, and the end of the process.
#include <stdarg.h>

#include "rt/abi/caller.h"
#include "rt/base/format.h"
#include "rt/task/charge.h"

namespace janus {

namespace {

constexpr std::size_t kMaxPrinted = 4096;
constexpr std::size_t kFewPrinted = 256;  // where there is no memory, which is what many have to say

// Of the process, not of a runtime: all of them write to the same terminal.
SpinLock output;

int write_all(int fd, const char* bytes, std::size_t count) noexcept {
  LockGuard guard(output);
  while (count != 0) {
    const long written = platform::write(fd, bytes, count);
    if (written < 0) return static_cast<int>(written);
    if (written == 0) return -5;  // EIO: it takes nothing and gives no reason
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return 0;
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" {

int janus_write(int fd, const void* bytes, size_t size) {
  (void)caller();
  if (bytes == nullptr && size != 0) return JANUS_E_INVALID;
  return write_all(fd, static_cast<const char*>(bytes), size);
}

int janus_print(int fd, const char* format, ...) {
  const Caller me = caller();
  if (format == nullptr) return JANUS_E_INVALID;
  Runtime* const runtime = runtime_or_own(nullptr, me);
  if (runtime == nullptr) return JANUS_E_STATE;
  // A task's stack may have no room for a whole piece.
  Worker* const worker = worker_in(*runtime, me);
  HeapCache* const cache = worker != nullptr ? &worker->heap : nullptr;
  auto* const text = static_cast<char*>(runtime->heap.allocate(cache, kMaxPrinted, 16, kRuntimeTag));
  char few[kFewPrinted];
  char* const out = text != nullptr ? text : few;
  const std::size_t most = text != nullptr ? kMaxPrinted : kFewPrinted;
  va_list arguments;
  va_start(arguments, format);
  const std::size_t wanted = janus_vformat(out, most, format, arguments);
  va_end(arguments);
  const int answer = write_all(fd, out, wanted < most ? wanted : most - 1);
  if (text != nullptr) runtime->heap.free_own(cache, text);
  return answer;
}

int64_t janus_syscall(long nr, ...) {
  const Caller me = caller();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  va_list list;
  va_start(list, nr);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  const int answer = charge(*me.task, Component::kSyscalls, 1);
  if (answer != 0) return answer;
  current_worker().counters.syscalls.add();
  me.task->yielded_free = false;
  return platform::syscall(nr, arguments);
}

int janus_entropy(void* bytes, size_t size) {
  const Caller me = caller();
  if (bytes == nullptr && size != 0) return JANUS_E_INVALID;
  if (me.task == nullptr || !me.worker->scheduler->is_deterministic())
    return platform::entropy(bytes, size) ? 0 : JANUS_E_UNSUPPORTED;
  auto* const out = static_cast<std::uint8_t*>(bytes);
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::uint8_t>(me.worker->rng.next());
  return 0;
}

void janus_exit(int status) {
  platform::exit(status & 255);
}

}  // extern "C"
