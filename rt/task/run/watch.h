// SPDX-License-Identifier: Apache-2.0
// rt/task/run/watch.h — watches of tasks (janus_task_watch): when the task ends, its result is sent into a channel.
#pragma once

#include "rt/optional.h"
#include "rt/task/nurseries/join.h"
#include "rt/task/record/channel.h"

namespace janus {

// Watches the task whose lock is held, and releases the lock: sends the message once it ends, or now if it has ended. 0, or
// the error. `secret`: of the handle that named the channel, whose elements are ResultWordss, of the calling task's
// runtime. The channel_op is paid.
int watch_locked(Task& task, Channel& channel, std::uint32_t secret, Join* watch) noexcept;
// The record of a watch, paid by the calling task; nullptr: the error is in `error`.
Join* make_watch(Task& self, int& error) noexcept;
void free_watch(Join* watch) noexcept;

// Takes the watches of a task that has just ended out of its waiters, with its result. Under its lock.
[[nodiscard, JANUS_OPTIONAL]] Join* take_watches(Task& task) noexcept;
// Sends what they have to send. With no lock held; does not wait.
[[JANUS_OPTIONAL]] void tell_watches(Worker& worker, Join* watches) noexcept;

}  // namespace janus
