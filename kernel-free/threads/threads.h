// SPDX-License-Identifier: Apache-2.0
// threads.h — who runs on a CPU. A CPU with one thread halts in it while it waits; with more, they take turns of
// kSliceNs, so that one that spins cannot keep out the one that it spins for.
#pragma once

#include <atomic>
#include <cstdint>

#include "kernel-free/threads/thread.h"

namespace janus::bare {

// Its CPU runs it from now on.
void add_thread(Thread& thread) noexcept;

// Returns when the state is no longer `while_state`, or the thread's until_ns has come. The thread that calls it.
void stay_while(Thread::State while_state) noexcept;

// A CPU with nothing to run.
[[noreturn]] void run_idle() noexcept;

// The thread has been made awake: its CPU is told. Interrupts are off.
void poke(Cpu& cpu) noexcept;

// Ends the machine with that status at that time, whatever runs then.
void end_at(std::uint64_t at_ns, int status) noexcept;

}  // namespace janus::bare
