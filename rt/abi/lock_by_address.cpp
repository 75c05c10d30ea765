// SPDX-License-Identifier: Apache-2.0
// rt/abi/lock_by_address.cpp — locks for function-local statics (linker/cxx/static_guard.cpp) and our C library's
// streams (linker/c/src/stream.c). Not in rt.h, since only our own libraries call them.
#include "rt/task/locks/lock_by_address.h"
#include "rt/abi/entry/entry.h"
#include "rt/base/order_hooks.h"

using namespace janus;

extern "C" {

// 1: the caller has to initialise. 0: the object is initialised. Negative: the caller is initialising it already, or
// there is no memory or budget for the lock. A cancelled task waits, too, and pays no grace for that [task].
int janus_once_begin(std::uint8_t* flag) {
  const Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  const int answer = begin_once(*me.task, reinterpret_cast<OnceFlag*>(flag));
  order_hooks::acquire(flag);
  return answer;
}

// Ends what janus_once_begin began. `is_done` 0: it failed, and the next task tries again [task].
void janus_once_end(std::uint8_t* flag, int is_done) {
  const Caller me = enter_free();
  if (me.task == nullptr) return;
  order_hooks::release(flag);
  end_once(*me.task, reinterpret_cast<OnceFlag*>(flag), is_done != 0 ? Once::kDone : Once::kToBeTriedAgain);
}

// A lock by its address. 1: the caller has it until it releases it or ends. 0: another task has it, or the caller
// already does. Negative: no memory [task].
int janus_hold_try(const void* object) {
  const Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  return try_lock_object(*me.task, object);
}

void janus_hold_end(const void* object) {
  const Caller me = enter_free();
  if (me.task != nullptr) unlock_object(*me.task, object);
}

}  // extern "C"
