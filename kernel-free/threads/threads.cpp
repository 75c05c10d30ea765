// SPDX-License-Identifier: Apache-2.0
// threads.cpp — the turns of threads, sleep and the timer of each CPU. Threads do not change CPUs, so a CPU alone
// decides which of its threads runs, with interrupts off; other CPUs only add threads to its ring, wake a thread and
// interrupt the CPU.
// INVARIANT no-lost-wake-up: a CPU reads its threads' states with interrupts off and halts by `sti; hlt`. The CPU that
// wakes a thread stores the state before it sends the interrupt: so either the first CPU saw the state, or the
// interrupt is pending at the hlt and ends it. Alarms: docs/decisions/0345
#include "kernel-free/threads/threads.h"

#include "kernel-free/clock/timer.h"
#include "kernel-free/smp/apic.h"
#include "kernel-free/smp/per_cpu.h"
#include "kernel-free/threads/make_thread.h"

namespace janus::bare {
namespace {

constexpr std::uint64_t kSliceNs = 500'000;

std::atomic<std::uint64_t> g_end_at{platform::kForever};
std::atomic<int> g_end_status{0};

bool is_ready(const Thread& thread, std::uint64_t now) {
  if (thread.is_idle || thread.is_dead) return false;
  return thread.state.load(std::memory_order_acquire) == Thread::kAwake || now >= thread.until_ns;  // pairs with wake()
}

// The next thread in the ring, other than the current one, that can run; nullptr: none.
Thread* find_other(Cpu& cpu, std::uint64_t now) {
  LockGuard guard(cpu.threads_lock);
  for (Thread* other = cpu.current->next; other != cpu.current; other = other->next)
    if (is_ready(*other, now)) return other;
  return nullptr;
}

// Sets the timer to the earliest of: the end of a thread's sleep with a limit, the end of the current turn if another
// thread is ready, the alarm of the thread that runs, and the time of end_at().
enum class Others : bool { kNoneReady, kReady };
void arm_timer(Cpu& cpu, Others others) {
  BARE_ASSERT(interrupts_are_off() && &cpu == &this_cpu());
  if (!has_apic()) return;
  std::uint64_t at = others == Others::kReady ? cpu.slice_end_ns : platform::kForever;
  {
    LockGuard guard(cpu.threads_lock);
    const Thread* thread = cpu.current;
    do {
      if (thread->state.load(std::memory_order_relaxed) == Thread::kWaiting && thread->until_ns < at)
        at = thread->until_ns;
      thread = thread->next;
    } while (thread != cpu.current);
  }
  const Thread& running = *cpu.current;
  if (running.alarm_period_ns != 0 && !running.is_staying && running.alarm_at_ns < at) at = running.alarm_at_ns;
  if (const std::uint64_t end = g_end_at.load(std::memory_order_relaxed); end < at) at = end;
  if (at == cpu.timer_at_ns) return;
  cpu.timer_at_ns = at;
  set_timer(at);
}

Others others_of(Cpu& cpu) {
  return find_other(cpu, platform::now_ns()) != nullptr ? Others::kReady : Others::kNoneReady;
}

// Ends a halt, after any interrupt: called before the CPU accesses memory whose mapping other CPUs may have changed
// meanwhile (requests.h).
void leave_halt(Cpu& cpu) {
  if (!cpu.is_halted.load(std::memory_order_relaxed)) return;
  cpu.is_halted.store(false, std::memory_order_seq_cst);
  arch::full_fence();
  answer_requests(cpu);
}

void halt(Cpu& cpu) {
  if (!has_apic()) {  // no interrupt would end a halt
    interrupts_on();
    arch::pause();
    return;
  }
  BARE_ASSERT(interrupts_are_off() && !cpu.is_halted.load(std::memory_order_relaxed));
  cpu.is_halted.store(true, std::memory_order_seq_cst);
  arch::full_fence();
  answer_requests(cpu);
  interrupts_on_and_halt();
  interrupts_off();
  leave_halt(cpu);  // the interrupt that ended the halt may be one that has no handler
}

std::uint64_t gs_base() {
  return read_msr(kMsrGsBase);
}

void unlink(Cpu& cpu, Thread& thread) {
  BARE_ASSERT(thread.is_dead && !thread.is_idle && &thread != cpu.current);
  LockGuard guard(cpu.threads_lock);
  Thread* before = &thread;
  while (before->next != &thread) before = before->next;
  before->next = thread.next;
}

// Saves `frame` in the current thread's record, and fills it with the registers of the next thread.
void switch_to(Cpu& cpu, Thread& next, TrapFrame& frame) {
  Thread& last = *cpu.current;
  BARE_ASSERT(interrupts_are_off() && &next != &last && next.cpu == &cpu && last.cpu == &cpu && !next.is_dead);
  copy_bytes(&last.frame, &frame, sizeof frame);
  last.gs_base = gs_base();
  save_vectors(last.vectors);
  cpu.current = &next;
  write_msr(kMsrFsBase, reinterpret_cast<std::uint64_t>(&next));
  write_msr(kMsrGsBase, next.gs_base);
  load_vectors(next.vectors);
  copy_bytes(&frame, &next.frame, sizeof frame);
  const std::uint64_t now = platform::now_ns();
  last.ran_ns += now - last.runs_since_ns;
  next.runs_since_ns = now;
  cpu.slice_end_ns = now + kSliceNs;
  if (!last.is_dead) return;
  unlink(cpu, last);
  free_thread(last);
}

// An alarm that was due while its thread waited, or another one ran, rings late, and once.
void look_at_alarm(Thread& running, std::uint64_t now) {
  if (running.alarm_period_ns == 0 || running.is_staying || now < running.alarm_at_ns) return;
  running.alarm_at_ns = now + running.alarm_period_ns;
  running.alarm_rings = true;
}

// Ends the current turn if its time is over and another thread is ready; otherwise the timer will end it.
void share_turns(Cpu& cpu, TrapFrame& frame) {
  const std::uint64_t now = platform::now_ns();
  if (now >= g_end_at.load(std::memory_order_relaxed)) platform::exit(g_end_status.load(std::memory_order_relaxed));
  Thread& running = *cpu.current;
  look_at_alarm(running, now);
  const bool is_running = is_ready(running, now);  // else it is in stay_while(), which looks for another thread itself
  Thread* const other = is_running ? find_other(cpu, now) : nullptr;
  if (other != nullptr && now >= cpu.slice_end_ns) {
    ++running.preemptions;
    switch_to(cpu, *other, frame);
  }
  arm_timer(cpu, other != nullptr ? Others::kReady : Others::kNoneReady);
}

// Enters on_switch() by an int instruction, so that this switch, like all others, runs on an interrupt stack and saves
// a thread in the same way.
void switch_away() {
  asm volatile("int %0" : : "i"(kSwitch) : "memory");
}

}  // namespace

void on_timer(TrapFrame& frame) noexcept {
  Cpu& cpu = this_cpu();
  leave_halt(cpu);
  acknowledge_interrupt();
  cpu.timer_at_ns = platform::kForever;
  answer_requests(cpu);
  share_turns(cpu, frame);
}

void on_request(TrapFrame& frame) noexcept {
  Cpu& cpu = this_cpu();
  leave_halt(cpu);
  acknowledge_interrupt();
  answer_requests(cpu);
  share_turns(cpu, frame);
}

void on_switch(TrapFrame& frame) noexcept {
  Cpu& cpu = this_cpu();
  Thread* next = find_other(cpu, platform::now_ns());
  if (next == nullptr && cpu.current->is_dead) next = &cpu.idle;
  if (next != nullptr) switch_to(cpu, *next, frame);
  const bool is_another_ready = next != nullptr && find_other(cpu, platform::now_ns()) != nullptr;
  arm_timer(cpu, is_another_ready ? Others::kReady : Others::kNoneReady);
}

void ring_again(std::uint64_t after_ns) noexcept {
  Cpu& cpu = this_cpu();
  cpu.current->alarm_at_ns = platform::now_ns() + after_ns;
  arm_timer(cpu, others_of(cpu));
}

void add_thread(Thread& thread) noexcept {
  BARE_ASSERT(thread.next == nullptr && !thread.is_idle && !thread.is_dead);
  Cpu& cpu = *thread.cpu;
  IrqOff irq_off;
  {
    LockGuard guard(cpu.threads_lock);
    thread.next = cpu.idle.next;
    cpu.idle.next = &thread;
  }
  poke(cpu);
}

void poke(Cpu& cpu) noexcept {
  BARE_ASSERT(interrupts_are_off());
  Cpu& here = this_cpu();
  if (&cpu != &here)
    send_interrupt(cpu, kRequest);
  else if (!here.current->is_idle)
    arm_timer(here, Others::kReady);
}

void stay_while(Thread::State while_state) noexcept {
  Thread& me = this_thread();
  Cpu& cpu = *me.cpu;
  me.is_staying = true;
  for (;;) {
    touch_stack<kSectionStack>();
    interrupts_off();
    const std::uint64_t now = platform::now_ns();
    if (me.state.load(std::memory_order_acquire) != while_state || now >= me.until_ns) break;  // pairs with wake()
    if (find_other(cpu, now) != nullptr) {
      switch_away();
    } else {
      arm_timer(cpu, Others::kNoneReady);
      halt(cpu);
    }
  }
  me.is_staying = false;
  if (me.alarm_period_ns != 0) arm_timer(cpu, others_of(cpu));
  interrupts_on();
}

void run_idle() noexcept {
  Thread& me = this_thread();
  BARE_ASSERT(me.is_idle && me.cpu->current == &me);
  me.until_ns = platform::kForever;
  me.state.store(Thread::kWaiting, std::memory_order_relaxed);
  for (;;) stay_while(Thread::kWaiting);
}

void end_at(std::uint64_t at_ns, int status) noexcept {
  g_end_status.store(status, std::memory_order_relaxed);
  g_end_at.store(at_ns, std::memory_order_relaxed);
  IrqOff irq_off;
  Cpu& cpu = this_cpu();
  if (has_apic() && at_ns < cpu.timer_at_ns) set_timer(cpu.timer_at_ns = at_ns);
}

}  // namespace janus::bare

namespace janus::platform {

std::uint64_t thread_ns() noexcept {
  bare::IrqOff irq_off;
  const bare::Thread& me = bare::this_thread();
  return me.ran_ns + (now_ns() - me.runs_since_ns);
}

std::uint64_t preemptions() noexcept {
  return bare::this_thread().preemptions;
}

// The thread's CPU is the only one that reads this, in interrupts.
void set_alarm(int, std::uint64_t first_ns, std::uint64_t period_ns) noexcept {
  bare::IrqOff irq_off;
  bare::Thread& me = bare::this_thread();
  me.alarm_at_ns = now_ns() + first_ns;
  me.alarm_period_ns = period_ns;
  bare::arm_timer(*me.cpu, bare::others_of(*me.cpu));
}

void close_alarm(int alarm) noexcept {
  set_alarm(alarm, 0, 0);
}

}  // namespace janus::platform
