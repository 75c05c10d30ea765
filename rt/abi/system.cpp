// SPDX-License-Identifier: Apache-2.0
// rt/abi/system.cpp — output, system calls, entropy, and the end of the process. docs/decisions/0235
#include <stdarg.h>

#include "rt/abi/entry/entry.h"
#include "rt/base/floating.h"
#include "rt/base/format.h"
#include "rt/sched/hooks.h"
#include "rt/task/account/charge.h"
#include "rt/task/account/memory.h"
#include "rt/task/locks/output.h"
#include "rt/task/record/panic.h"
#include "rt/task/wait/authority.h"

namespace janus {

namespace {

constexpr std::size_t kMaxPrinted = 4096;
// The bounds of one janus_print, however long the format and its strings are.
constexpr FormatBounds kPrintBounds = {.text = kMaxPrinted, .reads = 4 * kMaxPrinted};
constexpr std::size_t kFewPrinted = 256;  // on the stack; a longer text gets a block

// Random bytes from the machine; in deterministic mode from the seed.
bool fill_random(const Caller& me, std::uint8_t* out, std::size_t count) noexcept {
  if (me.task == nullptr || !me.worker->scheduler->is_deterministic()) return platform::entropy(out, count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint8_t>(me.worker->rng.next());
  return true;
}

// Writes random bytes into a user's memory, a few at a time.
bool write_random(const Caller& me, std::uint8_t* out, std::size_t count) noexcept {
  std::uint8_t some[256];
  while (count != 0) {
    const std::size_t piece = count < sizeof some ? count : sizeof some;
    if (!fill_random(me, some, piece)) return false;
    write_user_bytes(out, some, piece);
    out += piece;
    count -= piece;
  }
  return true;
}

// For a call of the kernel: asks for the right, and charges one of `syscalls`.
int pay_for_call(Caller& me) noexcept {
  if (!is_permitted(*me.task, Right::kSyscall)) return JANUS_E_NO_CAP;
  const int answer = charge(*me.task, Component::kSyscalls, 1);
  me.worker = &current_worker();
  return answer;
}

// Output on descriptors 1 and 2 only reports, and is free; other writes reach files and networks.
int pay_for_output(Caller& me, int fd) noexcept {
  return me.task == nullptr || fd == 1 || fd == 2 ? 0 : pay_for_call(me);
}

// For each part, charges its ops and then test-reads it: the kernel would not report the address that cannot be read.
// Charges first, since the test may make pages present.
void pay_and_look(Caller& me, const char* bytes, std::size_t count) noexcept {
  while (count != 0) {
    const std::size_t part = count < price::kBytesAtOnce ? count : price::kBytesAtOnce;
    charge_part(me, part);
    if (!is_readable(bytes, part)) blame_caller();
    bytes += part;
    count -= part;
  }
}

// Ends the process if nobody can read its output any more, unless the caller may not end it, or the process ignores
// closed pipes. If this returns, the caller returns the error.
void look_at_answer(const Caller& me, int fd, std::int64_t answer) noexcept {
  constexpr std::int64_t kClosedPipe = -32;
  if (answer != kClosedPipe || (fd != 1 && fd != 2)) return;
  const Runtime* const runtime = runtime_or_own(nullptr, me);
  if (runtime == nullptr || !runtime->options.ends_by_closed_pipe) return;
  if (me.task == nullptr || may_end_process(*me.task)) platform::end_by_closed_pipe();
}

int put(const Caller& me, int fd, const char* bytes, std::size_t count) noexcept {
  const int answer = write_all(me.task, fd, bytes, count);
  look_at_answer(me, fd, answer);
  return answer;
}

// The watch of turns (rt/task/account/turn_limit.h) leaves a task alone that is in a system call: if its alarm interrupts
// one, it stops. A call that the kernel then does not restart begins again, unless a request to end has come, too.
std::int64_t call_kernel(Worker& worker, long nr, const long (&arguments)[6]) noexcept {
  constexpr std::int64_t kInterrupted = -4;
  auto& watch = worker.watch;
  watch.has_interrupted.store(false, std::memory_order_relaxed);
  watch.is_in_call.store(true, std::memory_order_relaxed);
  // It may take long; meanwhile the worker counts as stopped.
  const auto ask = [&]() noexcept {
    return call_announced(worker.scheduler->safepoints(), worker,
                          [&]() noexcept { return std::int64_t{platform::syscall(nr, arguments)}; });
  };
  std::int64_t result = ask();
  if (watch.has_interrupted.load(std::memory_order_relaxed)) [[unlikely]] {
    const bool is_to_end = worker.runtime->terminate_signal.load(std::memory_order_relaxed) != 0;
    if (result == kInterrupted && !is_to_end) result = ask();
    watch.is_in_call.store(false, std::memory_order_relaxed);
    if (const TurnWatch* const watching = worker.scheduler->dispatcher().turn_meter().watch()) watching->begin(worker);
  }
  watch.is_in_call.store(false, std::memory_order_relaxed);
  if (result == kInterrupted) [[unlikely]]
    // A request to end may have interrupted the call. Handles it here, so that a main that checks for the reason sees its
    // cancel, even if another worker has noticed the request, too.
    hooks::on_attention(worker);
  return result;
}

// Reads six arguments, even if fewer were passed, so AddressSanitizer must not check the reads.
[[gnu::no_sanitize_address]] void read_arguments(va_list list, long (&arguments)[6]) {
  for (long& argument : arguments) argument = va_arg(list, long);
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" {

int janus_write(int fd, const void* bytes, size_t size) {
  Caller me = enter(price::kCall + price::kSystemCall);
  if (bytes == nullptr && size != 0) return JANUS_E_INVALID;
  const int refused = pay_for_output(me, fd);
  if (refused != 0) return refused;
  pay_and_look(me, static_cast<const char*>(bytes), size);
  return put(me, fd, static_cast<const char*>(bytes), size);
}

int janus_print(int fd, const char* format, ...) {
  Caller me = enter(price::kCall + price::kSystemCall);
  if (format == nullptr) return JANUS_E_INVALID;
  Runtime* const runtime = runtime_or_own(nullptr, me);
  if (runtime == nullptr) return JANUS_E_STATE;
  const int refused = pay_for_output(me, fd);
  if (refused != 0) return refused;
  char few[kFewPrinted];  // small, since a task's stack may have little room
  va_list arguments;
  va_start(arguments, format);
  const Formatted first = vformat(few, sizeof few, kPrintBounds, format, arguments);
  va_end(arguments);
  if (first.size == kUnreadable) {
    blame_caller();
    return JANUS_E_INVALID;
  }
  const bool is_short = first.size < sizeof few;
  const std::size_t reads = is_short ? first.reads : 2 * first.reads;               // a long text is read again
  charge_more(me, static_cast<std::int64_t>(reads / price::kFormattedBytesPerOp));  // while the caller holds nothing
  if (is_short) return put(me, fd, few, first.size);
  const std::size_t most = (first.size < kMaxPrinted ? first.size : kMaxPrinted) + 1;
  Account* const payer = me.task != nullptr ? me.task->account : runtime->root_account;
  auto* const text = static_cast<char*>(try_allocate_own(*runtime, worker_in(*runtime, me), payer, most));
  if (text == nullptr) return put(me, fd, few, sizeof few - 1);
  va_start(arguments, format);
  const std::size_t wanted = vformat(text, most, kPrintBounds, format, arguments).size;
  va_end(arguments);
  const bool is_read = wanted != kUnreadable;
  const int answer = is_read ? put(me, fd, text, wanted < most ? wanted : most - 1) : JANUS_E_INVALID;
  release_own(*runtime, worker_in(*runtime, enter_free()), text);  // the task may be on another worker by now
  if (!is_read) blame_caller();
  return answer;
}

// The digits of a double for our C library's printf (linker/c/src/format.c), as write_floating(). `text` has room for
// kMaxFloatingText. Not in rt.h.
std::size_t janus_write_floating(char* text, std::uint64_t bits, char conversion, int precision, bool keeps_point,
                                 std::size_t* zeros_at, std::size_t* zeros) {
  constexpr int kExponent = 0x7ff, kHalfway = 1075;
  const int distance = static_cast<int>(bits >> 52 & kExponent) - kHalfway;
  (void)enter(price::kCall + (distance < 0 ? -distance : distance) / price::kMultipliedPerOp);
  if (!is_writable(text, kMaxFloatingText)) blame_caller();
  std::size_t at = 0, count = 0;
  const std::size_t size = write_floating(text, bits, conversion, precision, keeps_point, &at, &count);
  write_user(zeros_at, at);
  write_user(zeros, count);
  return size;
}

int64_t janus_syscall(long nr, ...) {
  va_list list;
  va_start(list, nr);
  long arguments[6];
  read_arguments(list, arguments);
  va_end(list);
  if (enter_on_any_thread().task == nullptr) {
    Worker* const helper = helper_of_thread();
    return helper != nullptr ? syscall_on_helper(*helper, nr, arguments) : JANUS_E_NO_TASK;
  }
  Caller me = enter(price::kCall + price::kSystemCall);
  const int answer = pay_for_call(me);
  if (answer != 0) return answer;
  current_worker().counters.syscalls.add();
  me.task->yielded_free = false;
  return call_kernel(current_worker(), nr, arguments);
}

int janus_entropy(void* bytes, size_t size) {
  constexpr int kNoDevice = -19;
  Caller me = enter(price::kCall + price::kSystemCall);
  if (bytes == nullptr && size != 0) return JANUS_E_INVALID;
  auto* out = static_cast<std::uint8_t*>(bytes);
  for (std::size_t rest = size; rest != 0;) {
    const std::size_t part = rest < price::kRandomBytesAtOnce ? rest : price::kRandomBytesAtOnce;
    charge_more(me, static_cast<std::int64_t>(part / price::kRandomBytesPerOp));
    if (!write_random(me, out, part)) return kNoDevice;
    out += part;
    rest -= part;
  }
  return 0;
}

// Whether janus_exit() would end the process. Not in rt.h: for the C library, which calls it before it runs or
// registers exit handlers (linker/start/program.h).
int janus_may_exit(void) {
  const Caller me = enter_free();
  return me.task == nullptr || may_end_process(*me.task) ? 1 : 0;
}

// Handles the kernel's result of a write by the C library (linker/start/program.h). Not in rt.h.
void janus_has_written(int fd, int64_t answer) {
  look_at_answer(enter_free(), fd, answer);
}

void janus_exit(int status) {
  const Caller me = enter_free();
  if (me.task != nullptr && !may_end_process(*me.task))
    panic(*me.task, Cause::kMisuse, "it would end the process, and has no right to");
  platform::exit(status & 255);
}

}  // extern "C"
