// SPDX-License-Identifier: Apache-2.0
// rt/abi/shield.cpp — janus_shield. docs/decisions/0334
#include "rt/task/wait/shield.h"
#include "rt/abi/entry/entry.h"

using namespace janus;

extern "C" int64_t janus_shield(janus_task_fn fn, void* arg) {
  const Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  return why_no_task_function(fn) != 0 ? JANUS_E_INVALID : call_in_shield(*me.task, fn, arg);
}
