// SPDX-License-Identifier: Apache-2.0
// rt/abi/park.cpp — waiting for a time, or for a token. Apart from yield.cpp, so that programs that wait for no time are
// linked without timers.
#include "rt/task/nurseries/park.h"
#include "rt/abi/entry/entry.h"
#include "rt/abi/entry/limit.h"
#include "rt/abi/entry/runtime_of_handle.h"
#include "rt/task/account/charge.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/deadline.h"
#include "rt/task/wait/sleep.h"

using namespace janus;

extern "C" {

int janus_sleep_ns(uint64_t ns) {
  const Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  if (ns == 0) return yield<Path::kGeneral>(*me.worker, *me.task);
  const Limit limit = after(me, ns);
  return sleep_until(*me.task, limit.at, limit.now_ns);
}

int janus_sleep_until(uint64_t deadline_ns) {
  const Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  return sleep_until(*me.task, limit_at(deadline_ns), 0);
}

int janus_park(int64_t timeout_ns) {
  const Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  if (timeout_ns == 0) return try_park(*me.task) ? 0 : JANUS_E_TIMEOUT;
  const Limit limit = limit_after(me, timeout_ns);
  const Deadline deadline(*me.task, limit.at, limit.now_ns);
  return park(*me.task);
}

int janus_unpark(janus_task handle) {
  const Caller me = enter();
  if (handle.raw == 0) return JANUS_E_INVALID;
  const RuntimeOfHandle runtime(me, handle.raw);
  Task* const task = runtime.lock();
  if (task == nullptr) return JANUS_E_STALE;
  const bool ended = task->has(TaskFlags::kEnded);
  if (!ended) unpark(worker_in(*runtime.get(), me), *task);
  task->lock.unlock();
  return ended ? JANUS_E_STALE : 0;
}

}  // extern "C"
