// SPDX-License-Identifier: Apache-2.0
// rt/abi/blocking.cpp — janus_blocking. docs/decisions/0343
#include "rt/task/run/blocking.h"
#include "rt/abi/entry/entry.h"
#include "rt/abi/entry/thread_table.h"
#include "rt/task/nurseries/open.h"
#include "rt/task/run/await.h"
#include "rt/task/wait/cancel.h"

namespace janus {

namespace {

// The next function on this thread must find nothing of the last one.
void end_left_by_function(std::int64_t code) noexcept {
  while (Nursery* const nursery = pop_current_of_thread()) {
    if (code < 0) cancel_nursery(nullptr, *nursery, Cause::kParent, Pace::kAtOnce);
    await_from_thread(*nursery);
    destroy_nursery(nullptr, *nursery);
  }
  set_error_of_thread({});
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" int64_t janus_blocking(janus_task_fn fn, void* arg) {
  Caller me = enter(price::kCall + price::kSystemCall);
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  if (why_no_task_function(fn) != 0) return JANUS_E_INVALID;
  if (!is_permitted(*me.task, Right::kSpawn) || !is_permitted(*me.task, Right::kSyscall)) return JANUS_E_NO_CAP;
  if (sees_cancel(*me.task)) return JANUS_CANCELLED;
  const int answer = charge(*me.task, Component::kSyscalls, 1);
  if (answer != 0) return answer;
  current_worker().counters.syscalls.add();
  me.task->yielded_free = false;
  return call_on_helper(*me.task, fn, arg, end_left_by_function);
}
