// SPDX-License-Identifier: Apache-2.0
// rt/platform.h — the functions that the runtime needs from the machine. A program links exactly one library that
// defines it: arch/linux, arch/hosted (pthreads, for the sanitizers), kernel-free, or in tests tests/fake_platform
// (virtual clock, scripted faults). Any thread may call any function, unless its comment says otherwise.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rt/optional.h"

namespace janus::platform {

inline constexpr std::uint64_t kForever = ~std::uint64_t{0};

// --- Pages -----------------------------------------------------------------------------------------------------------

// Maps `bytes` (a multiple of 4096) of zeroed, private pages, which use no memory until touched. nullptr: refused.
[[nodiscard]] std::byte* map(std::size_t bytes) noexcept;
// Unmaps a mapping that map() returned, all of it.
void unmap(std::byte* pages, std::size_t bytes) noexcept;

// Gives the memory of whole pages back to the machine; they read as zero afterwards. Guards among them stay.
void discard(std::byte* pages, std::size_t bytes) noexcept;

// A hint: for each bit n of `which`, the page at first + n * stride is about to be touched. A machine that can provide
// many pages at once for less than a fault each does so.
void populate(std::byte* first, std::size_t stride, std::uint64_t which) noexcept;

// The kinds of guards, the best last. kNone: there is no guard, and the caller uses a canary.
enum class Guard : std::uint8_t { kNone, kProtected, kInstalled };

// Makes `guard_bytes` at first, first + stride, ... (`count` of them) fault when touched, by the cheapest means that
// this kernel has; `guarded` receives how many of them, the first ones, got a guard. Fewer than `count` is no error:
// mappings are a limited resource. Everything up to first + count * stride must be the caller's, and uses small pages
// from now on.
[[nodiscard]] Guard guard(std::byte* first, std::size_t stride, std::size_t count, std::size_t guard_bytes,
                          std::size_t& guarded) noexcept;

// Set and remove guards of the kind kInstalled on whole pages of the caller's. After set_guards() the pages fault, and
// their contents are lost; after clear_guard() they read as zero. Such guards need no mappings. After set_guards() with a
// stride the range uses small pages, as after guard(). False: the machine has no such guards, or refuses; nothing has
// changed, except that set_guards() may have set the first ones of several. clear_guard() may be called in a fault
// handler.
[[nodiscard]] bool set_guards(std::byte* first, std::size_t stride, std::size_t count, std::size_t bytes) noexcept;
[[nodiscard]] bool clear_guard(std::byte* pages, std::size_t bytes) noexcept;

// How many bytes this process may use: the machine's memory or the nearest cgroup limit. Never 0.
[[nodiscard]] std::uint64_t memory_limit() noexcept;

// --- Workers ---------------------------------------------------------------------------------------------------------

inline constexpr unsigned kMaxCpus = 1024;
struct Cpus {
  unsigned allowed;             // CPUs in the affinity mask
  unsigned quota;               // whole CPUs that cgroup quotas of this process and its ancestors leave, >= 1
  bool fractional;              // the quota is not a whole number of CPUs, or is below `allowed`: do not pin
  bool no_turns = false;        // a thread that spins keeps its CPU: a second worker there might never run
  std::uint16_t ids[kMaxCpus];  // the first `allowed` entries, beginning with the CPU that the caller runs on
};
void cpus(Cpus& out) noexcept;

// Starts a thread with a stack, an alternate signal stack and an %fs block of its own. It runs entry(arg), which must
// not return but call exit_thread(). `cpu` < 0: not pinned. False: the machine refuses, and nothing is left behind.
using ThreadEntry = void (*)(void* arg);
[[nodiscard]] bool start_thread(ThreadEntry entry, void* arg, int cpu, const char* name) noexcept;
[[noreturn]] void exit_thread() noexcept;
// For a thread that start_thread() did not start (main's, or a host's): gives it an alternate signal stack, a name and
// a CPU. False: there is no memory for it.
[[nodiscard]] bool adopt_thread(int cpu, const char* name) noexcept;
// The id of the calling thread, for pin_thread().
[[nodiscard]] int thread_id() noexcept;
// Pins a live thread to `cpu`; with kAnyCpu lets it run on the CPUs that it could use before it was first pinned. Does
// nothing on a machine where threads never move.
inline constexpr int kAnyCpu = -1;
void pin_thread(int thread, int cpu) noexcept;

// Set and read the gs base of the calling thread. worker_slot() is nullptr in a thread that never called
// set_worker_slot().
void set_worker_slot(void* slot) noexcept;
[[nodiscard]] void* worker_slot() noexcept;

// --- Waiting and time ------------------------------------------------------------------------------------------------

// Sleeps while word == seen, until wake() or `until_ns` (now_ns() clock; kForever: no limit). May return early, so the
// caller checks the word again. wake() wakes up to `count` threads that sleep on `word`.
void wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::uint64_t until_ns) noexcept;
void wake(std::atomic<std::uint32_t>& word, std::uint32_t count) noexcept;

// A store-load fence in every thread of this process at once; the partner of a compiler barrier in an owner's fast
// path. If has_heavy_fence() is false, it does nothing, and owners must execute fences themselves. has_heavy_fence()
// does not change while the process runs.
void heavy_fence() noexcept;
[[nodiscard]] bool has_heavy_fence() noexcept;

std::uint64_t now_ns() noexcept;  // monotonic
// The CPU time of the calling thread; 0: unknown on this machine. May be a system call.
std::uint64_t thread_ns() noexcept;
// How often the machine has taken the CPU from the calling thread; a thread that waits in the kernel gives it up itself.
// 0: unknown on this machine. May be a system call.
std::uint64_t preemptions() noexcept;
std::int64_t unix_time_ns() noexcept;

// --- Output and system calls -----------------------------------------------------------------------------------------

// Writes once, as soon as there is room; waits for room until `until_ns` at most (now_ns() clock; 0: not at all).
// Returns how many bytes were written, or -errno; kNoRoom: there was no room until then.
inline constexpr long kNoRoom = -11;  // EAGAIN
[[nodiscard]] long write(int fd, const void* bytes, std::size_t count, std::uint64_t until_ns) noexcept;
[[nodiscard]] inline long write(int fd, const void* bytes, std::size_t count) noexcept {
  return write(fd, bytes, count, kForever);
}
// One thread waits for room in several descriptors at once. The first descriptor is a bell, which other threads ring to
// end the wait; open_bell() is negative on a machine without bells.
struct Descriptor {  // the kernel's struct pollfd
  int fd;
  std::int16_t wanted, found;
};
inline constexpr std::int16_t kIsRung = 1, kHasRoom = 4;  // wanted of the bell, and of the others
[[nodiscard]] int open_bell() noexcept;
void ring_bell(int bell) noexcept;
void close_bell(int bell) noexcept;
// Returns when the bell was rung, and resets the bell, or when one of the others has room or a write to it would fail:
// its `found` is not 0. No time limit. May return early. False: the machine cannot wait for all of these.
[[nodiscard]] bool wait_for_room(Descriptor* bell, unsigned count) noexcept;
[[nodiscard]] bool entropy(void* bytes, std::size_t count) noexcept;
// For the runtime's own keys, when it starts: never waits for a device, so it may fail where entropy() succeeds.
[[nodiscard]] bool entropy_at_once(void* bytes, std::size_t count) noexcept;
// A raw system call for janus_syscall; -ENOSYS (-38) where there is no kernel.
long syscall(long nr, const long (&args)[6]) noexcept;
[[noreturn]] void exit(int status) noexcept;
// Ends the process for a bug of the runtime: the default action of SIGABRT.
[[noreturn]] void abort() noexcept;
// Makes abort() leave a core file, as large as the machine allows. False: it allows none.
[[nodiscard]] bool allow_core() noexcept;
// Ends the process as a write to a pipe without a reader would: the default action of SIGPIPE.
[[noreturn]] void end_by_closed_pipe() noexcept;

// The function that contains an address, and the offset in it, by the symbol table of the program's own file; nullptr:
// unknown. May be called in a fault handler. Missing where machines have no files (rt/optional.h).
struct Symbol {
  const char* name;
  std::uint64_t offset;
};
[[JANUS_OPTIONAL]] Symbol symbol_of(std::uint64_t address) noexcept;
// Tells a tool that watches rsp (Valgrind) that [low, high) is a stack to which the program will switch.
[[JANUS_OPTIONAL]] void announce_stack(const std::byte* low, const std::byte* high) noexcept;
// Whether such a tool runs the program: then a push that faults has already moved rsp when it runs again.
[[JANUS_OPTIONAL]] bool is_emulated() noexcept;

// --- Faults and requests to end --------------------------------------------------------------------------------------

enum class FaultKind : std::uint8_t { kAccess, kIllegalInstruction, kDivision, kFloatingPoint, kBreakpoint, kBus };
struct Registers {
  std::uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8, r9, r10, r11, r12, r13, r14, r15;
};
struct Fault {
  FaultKind kind;
  bool has_address;
  std::uint64_t address;       // the accessed address, if has_address
  std::uint64_t ip, sp, fp;    // of the faulting thread
  const Registers* registers;  // of the faulting thread, valid while the handler runs; nullptr: not available
  // Set by a handler that returns true: where the thread resumes, with DF clear, default mxcsr and x87 control word,
  // all vector state clean, and `resume_arg` in rdi.
  std::uint64_t resume_ip, resume_sp, resume_arg;
  // False when the handler is called. If the handler sets it, only resume_ip counts: the thread resumes there with rsp,
  // all other registers, flags and vector state as they were at the fault, as after a jump. For the runtime's copies of
  // user memory (arch/user_copy.h), which then return a result.
  bool keeps_registers;
};
// Called for a fault of any thread, also of one without a worker slot, on its alternate stack if it has one; never for
// a signal that was sent. True: the thread resumes as the Fault says. False: the runtime does not handle the fault; the
// handler that was installed before is called, or if there was none, the default action ends the process. on_fault() is
// false if the machine refuses the handlers, or alternate signal stacks for them: none is installed then.
using FaultHandler = bool (*)(Fault& fault);
[[nodiscard]] bool on_fault(FaultHandler handler) noexcept;
void remove_fault_handler() noexcept;

// Interrupts `thread`, a thread of this process that handles faults, and calls `look` there, in a signal handler on the
// thread's alternate stack, with the position where the thread was interrupted. Waits for that until `until_ns`. False:
// `look` was not called, and will not be. One caller at a time, after on_fault(). A system call of the thread may be
// interrupted (EINTR) if the kernel does not restart it.
struct Standing {
  std::uint64_t ip, sp, fp;
};
using Look = void (*)(const Standing& where, void* argument);
[[nodiscard, JANUS_OPTIONAL]] bool sample_thread(int thread, Look look, void* argument,
                                                 std::uint64_t until_ns) noexcept;

// An alarm interrupts its thread again and again and calls its handler there, on the thread's alternate stack, with the
// position where the thread was interrupted; `kind` and address say nothing. True: the thread resumes as the Fault says,
// as after a fault. False: it goes on as if nothing had happened. An alarm may be late, and may be left out while the
// thread waits in the kernel; a system call of the thread may be interrupted (EINTR) if the kernel does not restart it.
using AlarmHandler = bool (*)(Fault& where);
// Makes an alarm of the calling thread, after on_fault(); it is not set. Negative: the machine refuses. All alarms that
// are open at a time have the same handler. The thread closes its alarm before it ends.
[[nodiscard]] int open_alarm(AlarmHandler handler) noexcept;
// By the alarm's thread, also in the handler. Sets the alarm to ring after `first_ns`, and then every `period_ns`; with 0
// and 0 it rings no more.
void set_alarm(int alarm, std::uint64_t first_ns, std::uint64_t period_ns) noexcept;
void close_alarm(int alarm) noexcept;

inline constexpr int kQuitSignal = 3;
// Called in a signal handler, on the alternate stack of some thread: for SIGTERM and SIGINT, which interrupt blocked
// system calls, and for SIGQUIT, which asks for a report and interrupts none. It may store to memory, wake threads, and
// call start_thread(), exit_later() and exit(). A machine without signals never calls it.
using TerminateHandler = void (*)(int signal);
void on_terminate(TerminateHandler handler) noexcept;
// Ends the process with `status` after `after_ns`, whatever runs then. May be called in a signal handler. Before that,
// `last_words` is called in a signal handler, unless it is nullptr or the machine has no signals.
using LastWords = void (*)();
void exit_later(std::uint64_t after_ns, int status, LastWords last_words) noexcept;

}  // namespace janus::platform
