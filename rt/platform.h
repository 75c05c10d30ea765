// SPDX-License-Identifier: Apache-2.0
// rt/platform.h — all that the runtime asks of the machine, on one screen. A program links exactly one library that
// defines it: arch/linux, arch/hosted (pthreads, for the sanitizers), kernel-free, or in tests tests/fake_platform
// (virtual clock, scripted faults). Any thread may call any function unless it says otherwise.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace janus::platform {

inline constexpr std::uint64_t kForever = ~std::uint64_t{0};

// --- Pages -----------------------------------------------------------------------------------------------------------

// `bytes` (a multiple of 4096) of zeroed, private pages that cost nothing until touched, or nullptr.
[[nodiscard]] std::byte* map(std::size_t bytes) noexcept;
// What map() gave, all of it.
void unmap(std::byte* pages, std::size_t bytes) noexcept;

// Gives the memory behind whole pages back; they read as zero afterwards. Guards inside survive.
void discard(std::byte* pages, std::size_t bytes) noexcept;

// A hint: the page at first + n * stride is about to be touched, for each bit n of `which`. Where the machine can give
// many pages at once for less than a fault each, it does.
void populate(std::byte* first, std::size_t stride, std::uint64_t which) noexcept;

// What makes a guard fault, best first. kNone: nothing does, the caller falls back to a canary.
enum class Guard : std::uint8_t { kNone, kProtected, kInstalled };

// Makes `guard_bytes` at first, first + stride, ... (`count` of them) fault when touched, by the cheapest means this
// kernel has; `guarded` receives how many, the first ones, got one. Fewer than asked is no error: mappings are a
// limited resource. All up to first + count * stride is the caller's, and from now on made of small pages.
[[nodiscard]] Guard guard(std::byte* first, std::size_t stride, std::size_t count, std::size_t guard_bytes,
                          std::size_t& guarded) noexcept;

// Guards of the kind kInstalled that come and go, on whole pages of a row that guard() has seen: set, they fault, and
// what they held is forgotten; cleared, they read as zero. No mapping each. False: this machine has none such, or
// refuses, and nothing has changed but that the first ones of several may be set. clear_guard() is good in a fault
// handler.
[[nodiscard]] bool set_guards(std::byte* first, std::size_t stride, std::size_t count, std::size_t bytes) noexcept;
[[nodiscard]] bool clear_guard(std::byte* pages, std::size_t bytes) noexcept;

// Bytes that this process may use: the machine's memory or the nearest cgroup limit. Never 0.
[[nodiscard]] std::uint64_t memory_limit() noexcept;

// --- Workers ---------------------------------------------------------------------------------------------------------

inline constexpr unsigned kMaxCpus = 1024;
struct Cpus {
  unsigned allowed;             // CPUs in the affinity mask
  unsigned quota;               // whole CPUs that cgroup quotas of this process and its ancestors leave, >= 1
  bool fractional;              // a quota that is no whole number of CPUs, or smaller than `allowed`: do not pin
  bool no_turns = false;        // who spins on a CPU keeps it: a second worker there might never run
  std::uint16_t ids[kMaxCpus];  // the first `allowed` entries, beginning with the one that the caller runs on
};
void cpus(Cpus& out) noexcept;

// A new thread with a stack, an alternate signal stack and an %fs block of its own; it runs entry(arg), which must not
// return but call exit_thread(). `cpu` < 0: not pinned. False when the machine refuses, with nothing left behind.
using ThreadEntry = void (*)(void* arg);
[[nodiscard]] bool start_thread(ThreadEntry entry, void* arg, int cpu, const char* name) noexcept;
[[noreturn]] void exit_thread() noexcept;
// What start_thread gives a thread, for the one that was there before us (main's, or a host's): alternate signal stack,
// name, CPU.
void adopt_thread(int cpu, const char* name) noexcept;
// The calling thread, for pin_thread.
[[nodiscard]] int thread_id() noexcept;
// Keeps a living thread on `cpu`, or lets it go where it could before it was first pinned. Where threads never move it
// does nothing.
inline constexpr int kAnyCpu = -1;
void pin_thread(int thread, int cpu) noexcept;

// The gs base of the calling thread. worker_slot() is nullptr in a thread that never called set_worker_slot().
void set_worker_slot(void* slot) noexcept;
[[nodiscard]] void* worker_slot() noexcept;

// --- Waiting and time ------------------------------------------------------------------------------------------------

// Sleeps while word == seen, until woken or `until_ns` (now_ns() clock; kForever: no limit). May return early: the
// caller looks again.
void wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::uint64_t until_ns) noexcept;
void wake(std::atomic<std::uint32_t>& word, std::uint32_t count) noexcept;

// A store-load fence in every thread of this process at once; the partner of a compiler barrier in an owner's fast
// path. Where has_heavy_fence() is false it does nothing, and owners must fence for themselves. Constant for a process.
void heavy_fence() noexcept;
[[nodiscard]] bool has_heavy_fence() noexcept;

std::uint64_t now_ns() noexcept;  // monotonic
// How long the calling thread has had a processor, 0: nobody knows. May be a system call.
std::uint64_t thread_ns() noexcept;
std::int64_t unix_time_ns() noexcept;

// --- The world -------------------------------------------------------------------------------------------------------

// Writes once, as soon as there is room, but waits for that until `until_ns` at most (now_ns() clock; 0: not at all).
// Bytes written, or -errno; kNoRoom when the time has passed.
inline constexpr long kNoRoom = -11;  // EAGAIN
[[nodiscard]] long write(int fd, const void* bytes, std::size_t count, std::uint64_t until_ns) noexcept;
[[nodiscard]] inline long write(int fd, const void* bytes, std::size_t count) noexcept {
  return write(fd, bytes, count, kForever);
}
[[nodiscard]] bool entropy(void* bytes, std::size_t count) noexcept;
// For keys of the runtime's own, while it begins: without any wait for a device, so that it may fail where entropy()
// does not.
[[nodiscard]] bool entropy_at_once(void* bytes, std::size_t count) noexcept;
// A raw system call for janus_syscall; -ENOSYS (-38) where there is no kernel.
long syscall(long nr, const long (&args)[6]) noexcept;
[[noreturn]] void exit(int status) noexcept;
// Ends the process as a bug of ours would: the default action of SIGABRT.
[[noreturn]] void abort() noexcept;
// From now on abort() leaves a core of any size that the machine can be brought to. False: of none.
[[nodiscard]] bool allow_core() noexcept;
// Ends the process as a write to a pipe that nobody reads would: the default action of SIGPIPE.
[[noreturn]] void end_by_closed_pipe() noexcept;

// The function that an address lies in, and how far into it, by the symbol table of the program's own file; nullptr:
// nobody knows. Good in a fault handler. Weak: machines without files, and programs that are linked without it, have
// none.
struct Symbol {
  const char* name;
  std::uint64_t offset;
};
[[gnu::weak]] Symbol symbol_of(std::uint64_t address) noexcept;
// [low, high) is a stack of its own, which somebody will switch to: for a tool that watches rsp. nullptr as above.
[[gnu::weak]] void announce_stack(const std::byte* low, const std::byte* high) noexcept;

// --- Faults and requests to end --------------------------------------------------------------------------------------

enum class FaultKind : std::uint8_t { kAccess, kIllegalInstruction, kDivision, kFloatingPoint, kBreakpoint, kBus };
struct Registers {
  std::uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8, r9, r10, r11, r12, r13, r14, r15;
};
struct Fault {
  FaultKind kind;
  bool has_address;
  std::uint64_t address;       // what was touched, if has_address
  std::uint64_t ip, sp, fp;    // where
  const Registers* registers;  // of the faulting thread, while the handler runs; nullptr: nobody tells
  // What a handler that returns true sets: where the thread goes on, with DF clear, default mxcsr and x87 control word,
  // all vector state clean, and `resume_arg` in rdi.
  std::uint64_t resume_ip, resume_sp, resume_arg;
  // False when the handler is called. If it sets this, only resume_ip counts: the thread goes on there with rsp, all
  // other registers, flags and vector state as the fault found them, as if it had jumped (the runtime's copies of user
  // memory, arch/user_copy.h, that go on with an answer).
  bool keeps_registers;
};
// Called for a fault of any thread, also of one that has no worker slot, on its alternate stack if it has one. Never
// for a signal that somebody sent. True: edit the context and return as the Fault says. False: the fault is not ours;
// the handler that was there before goes first, else the default action ends the process.
using FaultHandler = bool (*)(Fault& fault);
void on_fault(FaultHandler handler) noexcept;
void remove_fault_handler() noexcept;

// Has `look` called on `thread`, one of this process that lets in faults, in a signal handler on its alternate stack,
// and with where it stands; waits for that until `until_ns`. False: it was not called, and will not be. One caller at a
// time, after on_fault. A call that waits in the kernel may be interrupted (EINTR) where the kernel does not restart
// it. nullptr as symbol_of.
struct Standing {
  std::uint64_t ip, sp, fp;
};
using Look = void (*)(const Standing& where, void* argument);
[[nodiscard, gnu::weak]] bool interrogate(int thread, Look look, void* argument, std::uint64_t until_ns) noexcept;

// Called for SIGTERM and SIGINT, on some thread's alternate stack: store and wake, nothing else. And for SIGQUIT, which
// asks for a report: no system call is interrupted for that.
inline constexpr int kQuitSignal = 3;
using TerminateHandler = void (*)(int signal);
void on_terminate(TerminateHandler handler) noexcept;
// Ends the process with `status` when `after_ns` has passed, whatever runs then. Good in a signal handler.
void exit_later(std::uint64_t after_ns, int status) noexcept;

}  // namespace janus::platform
