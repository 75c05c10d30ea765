// SPDX-License-Identifier: Apache-2.0
// threads.h — schedules the threads of a CPU. A CPU with one thread halts in it while the thread waits; several threads
// take turns of kSliceNs, so that a spinning thread cannot block the thread that it waits for. docs/decisions/0112
#pragma once

#include <atomic>
#include <cstdint>

#include "kernel-free/smp/thread.h"

namespace janus::bare {

// The handlers of three interrupts, on an interrupt stack. They leave in `frame` the registers of the thread that the CPU
// is to run now, which may be another one.
void on_timer(TrapFrame& frame) noexcept;
void on_request(TrapFrame& frame) noexcept;
void on_switch(TrapFrame& frame) noexcept;

// Adds the thread to its CPU's ring: the CPU runs it from now on. Any CPU.
void add_thread(Thread& thread) noexcept;

// Returns when the calling thread's state is no longer `while_state`, or its until_ns has passed; other threads of the
// CPU run meanwhile.
void stay_while(Thread::State while_state) noexcept;

// The calling thread becomes its CPU's idle thread, which runs when no other can run.
[[noreturn]] void run_idle() noexcept;

// Tells a CPU that one of its threads was added or made awake. Interrupts must be off.
void poke(Cpu& cpu) noexcept;

// In an interrupt: the alarm of the thread that runs, which is set, rings in `after_ns`.
void ring_again(std::uint64_t after_ns) noexcept;

// Ends the machine with `status` at `at_ns`, whichever thread runs then.
void end_at(std::uint64_t at_ns, int status) noexcept;

}  // namespace janus::bare
