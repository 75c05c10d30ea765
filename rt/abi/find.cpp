// SPDX-License-Identifier: Apache-2.0
// rt/abi/find.cpp — tasks by number.
#include "rt/task/nurseries/find.h"

#include "rt/abi/entry/entry.h"

using namespace janus;

extern "C" janus_task janus_task_find(uint64_t id) {
  const Caller me = enter();
  if (me.task == nullptr) {
    set_error(me, JANUS_E_NO_TASK);
    return {0};
  }
  const std::uint64_t handle = find_task(*me.task, id);
  if (handle == 0) set_error(me, JANUS_E_STALE);
  return {handle};
}
