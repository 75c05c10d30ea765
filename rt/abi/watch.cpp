// SPDX-License-Identifier: Apache-2.0
// rt/abi/watch.cpp — janus_task_watch.
#include "rt/task/run/watch.h"

#include "rt/abi/channel_calls.h"
#include "rt/abi/entry/entry.h"

namespace janus {

namespace {

// Under the task's lock, which it releases. 0: there is nothing to watch for the caller.
int watch_found(Task& self, Task& task, Channel& channel, const janus_channel* named, Join* watch) noexcept {
  if (may_have_result(self, task)) return watch_locked(task, channel, secret_of_handle(word_of(named)), watch);
  task.lock.unlock();
  free_watch(watch);
  return JANUS_E_NO_CAP;
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" int janus_task_watch(janus_task handle, janus_channel* named) {
  Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  if (handle.raw == 0) return JANUS_E_INVALID;
  OrError<Channel*> channel = check_channel(me, named);
  if (!channel) return channel.error;
  if (channel.value->element_bytes != sizeof(janus_result)) return JANUS_E_INVALID;
  Runtime& runtime = runtime_of(*me.worker);
  if (channel.value->runtime != &runtime) return JANUS_E_STATE;
  if (const int answer = pay_for_transfer(me, sizeof(janus_result), false)) return answer;
  int error = 0;
  Join* const watch = make_watch(*me.task, error);
  if (watch == nullptr) return error_of(error);
  // Paying may have taken long.
  channel = find_channel({&current_worker(), me.task}, named);
  Task* const task = channel ? lock_handle(&current_worker(), runtime, handle.raw) : nullptr;
  if (task != nullptr) return watch_found(*me.task, *task, *channel.value, named, watch);
  free_watch(watch);
  return JANUS_E_STALE;
}
