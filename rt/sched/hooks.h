// SPDX-License-Identifier: Apache-2.0
// rt/sched/hooks.h — all that the scheduler asks of the layer above it, which knows what a runnable stands for. Plain
// functions that a program defines once: rt/task/hooks.cpp, or a test of the scheduler alone. A missing one is a link
// error. No lock of the scheduler is held when one is called.
#pragma once

#include <cstdint>

#include "rt/sched/idle.h"

namespace janus {

struct Runnable;
struct Worker;

namespace hooks {

// Calls a runnable that has not started, on the stack that the worker stands on. May return on another worker.
void run(Runnable* fresh) noexcept;

// There is no stack for it, and there will be none: it is over.
void refuse(Runnable* fresh) noexcept;

// Whether it has paid for its stack by itself, so that it gets one even where the root's budget is used up.
[[nodiscard]] bool has_paid(const Runnable* runnable) noexcept;

// What its events are traced under. Never an address.
[[nodiscard]] std::uint64_t id_of(const Runnable* runnable) noexcept;

// Every worker sleeps, `worker` is about to, and nothing was queued, all at one time. May queue something, or end the
// process. A thread outside may end that at any moment: what is looked at here was true together with it if
// Scheduler::all_slept_since(entered) holds afterwards.
void on_all_idle(Worker& worker, IdleSet::Snapshot entered) noexcept;

// Somebody has called Scheduler::request_attention() since the last time.
void on_attention(Worker& worker) noexcept;

}  // namespace hooks
}  // namespace janus
