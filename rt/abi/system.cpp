// SPDX-License-Identifier: Apache-2.0
// rt/abi/system.cpp — memory, budgets, output, time, system calls.
#include <stdarg.h>

#include "rt/abi/budget_convert.h"
#include "rt/abi/caller.h"
#include "rt/base/format.h"
#include "rt/task/memory.h"

namespace janus {

namespace {

constexpr std::size_t kMaxPrinted = 4096;
constexpr std::size_t kFewPrinted = 256;  // where there is no memory, which is what many have to say
constexpr std::size_t kMaxAlign = std::size_t{1} << 20;

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

void* allocate_for(std::size_t align, std::size_t size) noexcept {
  const Caller me = caller();
  Runtime* const runtime = runtime_or_own(nullptr, me);
  int error = JANUS_E_STATE;
  if (runtime == nullptr) return set_error(me, error), nullptr;
  if (me.task != nullptr) me.worker->fuel -= 1;
  void* const block = allocate(*runtime, worker_in(*runtime, me), me.task, size, align, &error);
  if (block == nullptr) return set_error(caller(), error), nullptr;
  return block;
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" {

void* janus_alloc(size_t size) {
  return allocate_for(16, size);
}

void* janus_alloc_aligned(size_t align, size_t size) {
  if (align == 0 || (align & (align - 1)) != 0 || align > kMaxAlign)
    return set_error(caller(), JANUS_E_INVALID), nullptr;
  return allocate_for(align, size);
}

void* janus_realloc(void* block, size_t size) {
  const Caller me = caller();
  Runtime* const runtime = runtime_or_own(nullptr, me);
  int error = JANUS_E_STATE;
  if (runtime == nullptr) return set_error(me, error), nullptr;
  if (me.task != nullptr) me.worker->fuel -= 1;
  void* const moved = reallocate(*runtime, worker_in(*runtime, me), me.task, block, size, &error);
  if (moved == nullptr) set_error(caller(), error);
  return moved;
}

void janus_free(void* block) {
  if (block == nullptr) return;
  const Caller me = caller();
  if (Runtime* const runtime = runtime_or_own(nullptr, me)) release(*runtime, worker_in(*runtime, me), block);
}

janus_budget janus_budget_get_current(void) {
  const Caller me = caller();
  if (me.task == nullptr) return {};
  Accounts& accounts = runtime_of(*me.worker).accounts;
  Amounts left;
  for (unsigned c = 0; c < kComponents; ++c) left.of[c] = accounts.left(me.task->account, static_cast<Component>(c));
  // The rest of the slice is the task's too.
  if (me.worker->charged_account != nullptr && me.worker->fuel > 0)
    left[Component::kOps] += static_cast<std::uint64_t>(me.worker->fuel);
  return budget_of(left);
}

// Implicit holders of CapBudget draw on their nursery's account anyway: there is nothing to move. Whoever was given a
// budget of its own has that, until somebody above recharges it.
int janus_budget_recharge(janus_budget amount) {
  const Caller me = caller();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  if (me.task->has(TaskFlags::kOwnAccount)) return JANUS_E_NO_CAP;
  Accounts& accounts = runtime_of(*me.worker).accounts;
  const Amounts wanted = amounts_of(amount);
  for (unsigned c = 0; c < kComponents; ++c) {
    const std::uint64_t left = accounts.left(me.task->account, static_cast<Component>(c));
    if (wanted.of[c] != kUnlimited && wanted.of[c] > left) return JANUS_E_BUDGET;
  }
  return 0;
}

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
  auto* const text = static_cast<char*>(runtime->heap.allocate(cache, kMaxPrinted, 16, 0));
  char few[kFewPrinted];
  char* const out = text != nullptr ? text : few;
  const std::size_t most = text != nullptr ? kMaxPrinted : kFewPrinted;
  va_list arguments;
  va_start(arguments, format);
  const std::size_t wanted = janus_vformat(out, most, format, arguments);
  va_end(arguments);
  const int answer = write_all(fd, out, wanted < most ? wanted : most - 1);
  if (text != nullptr) runtime->heap.free(cache, text);
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

uint64_t janus_now_ns(void) {
  const Caller me = caller();
  return me.task != nullptr ? me.worker->scheduler->now_ns() : platform::now_ns();
}

int64_t janus_unix_time_ns(void) {
  return platform::unix_time_ns();
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
