// SPDX-License-Identifier: Apache-2.0
// rt/abi/pin.cpp — janus_task_pin, janus_task_unpin. docs/decisions/0342
#include "rt/task/run/pin.h"
#include "rt/abi/entry/entry.h"

using namespace janus;

extern "C" {

int janus_task_pin(void) {
  const Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  if (!is_permitted_in_cage(*me.task, Right::kPin)) return JANUS_E_NO_CAP;
  return pin(*me.task) ? 0 : JANUS_E_STATE;
}

int janus_task_unpin(void) {
  const Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  return unpin(*me.task) ? 0 : JANUS_E_STATE;
}

}  // extern "C"
