// SPDX-License-Identifier: Apache-2.0
// rt/sched/hooks.h — the functions of the layer above that the scheduler calls; that layer knows what a runnable is.
// Plain functions that a program defines once: in rt/task/run/hooks.cpp, or in a test of the scheduler alone. A missing
// one is a link error. No lock of the scheduler is held when one is called. docs/decisions/0142
#pragma once

#include <cstdint>

#include "rt/sched/idle.h"

namespace janus {

struct Runnable;
struct Timer;
struct Worker;

namespace hooks {

// Runs a runnable that has not started, on the worker's current stack. May return on another worker.
void run(Runnable* fresh) noexcept;

// Ends a runnable that has not started, because no stack can be had for it.
void refuse(Runnable* fresh) noexcept;

// True: the runnable's own budget has paid for its stack, so it gets one even if the root's budget is used up.
[[nodiscard]] bool has_paid(const Runnable* runnable) noexcept;

// The number under which the runnable's events are traced. Never an address.
[[nodiscard]] std::uint64_t id_of(const Runnable* runnable) noexcept;

// The worker that the runnable, which has stopped, is pinned to, or nullptr.
[[nodiscard]] Worker* home_of(const Runnable* runnable) noexcept;

// Called by `worker` just before it sleeps, when at one moment all other workers slept and no runnable was queued. May
// queue runnables, or end the process. A thread outside the runtime may queue work at any time: what this function has
// read was true at one moment only if Scheduler::all_slept_since(entered) still holds afterwards.
void on_all_idle(Worker& worker, IdleSet::Snapshot entered) noexcept;

// IdleWorkers::request_attention() has been called since the last call of this.
void on_attention(Worker& worker) noexcept;

// A timer has fired. It stays valid during this call, but not longer. Returns the runnable that this has made ready, for
// the caller to queue, or nullptr.
[[nodiscard]] Runnable* on_timer(Worker& worker, Timer& timer) noexcept;

// Goes on with what such calls have left to do (WorkerTimers::rest), for some microseconds; nullptr: nothing is left.
void go_on_firing(Worker& worker, void*& rest) noexcept;

// Timers are due, but the caller may hold locks: makes some worker call IdleWorkers::poll_sources() for all soon.
void on_timers_due(Worker& worker) noexcept;

}  // namespace hooks
}  // namespace janus
