// SPDX-License-Identifier: Apache-2.0
// rt/abi/unsupported.cpp — functions that version 1 declares and this release does not support. They give
// JANUS_E_UNSUPPORTED; those that only tasks may call give JANUS_E_NO_TASK elsewhere. Only janus_cap_root succeeds, in
// the root task.
#include "rt/abi/entry/entry.h"

using namespace janus;

namespace {

int unsupported_in_task() noexcept {
  return enter().task != nullptr ? JANUS_E_UNSUPPORTED : JANUS_E_NO_TASK;
}

}  // namespace

extern "C" {

int64_t janus_blocking(janus_task_fn, void*) {
  return unsupported_in_task();
}
int janus_safepoint_stop(janus_rt*, int64_t) {
  (void)enter();
  return JANUS_E_UNSUPPORTED;
}
int janus_safepoint_resume(janus_rt*) {
  (void)enter();
  return JANUS_E_UNSUPPORTED;
}

// The default token is the only one: it may spawn and recharge, and cannot be revoked.
janus_cap janus_cap_root(janus_rt*) {
  const Caller me = enter();
  if (me.task != nullptr && me.task->nursery->traits.is_root) return {1};
  set_error(me, me.task != nullptr ? JANUS_E_NO_CAP : JANUS_E_NO_TASK);
  return {0};
}

janus_cap janus_cap_derive(janus_cap, uint32_t, janus_budget) {
  const Caller me = enter();
  set_error(me, me.task != nullptr ? JANUS_E_UNSUPPORTED : JANUS_E_NO_TASK);
  return {0};
}

int janus_cap_revoke(janus_cap) {
  return unsupported_in_task();
}

}  // extern "C"
