// SPDX-License-Identifier: Apache-2.0
// rt/abi/nursery.cpp — nurseries by handle. Those are opened, and tasks spawned in them, in open_nursery.cpp.
#include "rt/abi/entry/entry.h"
#include "rt/abi/entry/result_convert.h"
#include "rt/abi/general_calls.h"
#include "rt/base/order_hooks.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/nurseries/next_ended.h"
#include "rt/task/nurseries/open.h"
#include "rt/task/nurseries/result.h"
#include "rt/task/run/await.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/children.h"

namespace janus {

namespace {

// Finds a nursery that the caller owns. Fails also if janus_nursery_create opened it.
OrError<Nursery*> check_owned(janus_nursery* pointer, const Caller& me) noexcept {
  const OrError<Nursery*> nursery = check(pointer, me);
  if (!nursery) return nursery;
  if (is_in_report(me) || !does_own(me.task, *nursery.value) || nursery.value->traits.scope != 0)
    return Failed{JANUS_E_STATE};
  return nursery;
}

// A thread that waits until a time will do something afterwards, so that nothing is hopeless meanwhile.
template <typename Wait>
auto wait_outside(Nursery& nursery, std::uint64_t until_ns, Wait wait) noexcept {
  std::atomic<std::uint32_t>& awaits = nursery.runtime->timed_awaits;
  const bool is_timed = until_ns != platform::kForever;
  if (is_timed) awaits.fetch_add(1, std::memory_order_seq_cst);
  const auto answer = wait();
  if (is_timed) awaits.fetch_sub(1, std::memory_order_seq_cst);
  return answer;
}

bool await_outside(Nursery& nursery, std::uint64_t until_ns) noexcept {
  return wait_outside(nursery, until_ns, [&] { return await_from_thread_until(nursery, until_ns); });
}

}  // namespace

}  // namespace janus

using namespace janus;

long janus::await_in_general(janus_nursery* pointer, janus_result* result, std::uint64_t until_ns) noexcept {
  const Caller me = enter();
  const OrError<Nursery*> found = check_owned(pointer, me);
  if (!found) return found.error;
  Nursery* const nursery = found.value;
  const bool has_ended = me.task != nullptr ? await_nursery(*me.task, *nursery) : await_outside(*nursery, until_ns);
  if (!has_ended) return JANUS_E_TIMEOUT;
  const Report report = report_of(*nursery);
  fill(result, report);
  return static_cast<long>(report.code);
}

int janus::next_in_general(janus_nursery* pointer, janus_result* result, std::uint64_t until_ns) noexcept {
  const Caller me = enter();
  const OrError<Nursery*> found = check_owned(pointer, me);
  if (!found) return found.error;
  Nursery& nursery = *found.value;
  Report report;
  const int error = me.task != nullptr ? next_ended(*me.task, nursery, report) : wait_outside(nursery, until_ns, [&] {
    return next_ended_outside(nursery, until_ns, report);
  });
  if (error == 0) fill(result, report);
  return error;
}

extern "C" {

int janus_nursery_close(janus_nursery* pointer) {
  const Caller me = enter();
  const OrError<Nursery*> found = check(pointer, me);
  if (!found) return found.error;
  Nursery* const nursery = found.value;
  close_nursery(worker_in(*nursery->runtime, me), *nursery);
  return 0;
}

int janus_nursery_cancel(janus_nursery* pointer) {
  const Caller me = enter(price::kCall + price::kCancel);
  const OrError<Nursery*> found = check(pointer, me);
  if (!found) return found.error;
  Nursery* const nursery = found.value;
  cancel_nursery(worker_in(*nursery->runtime, me), *nursery, Cause::kAsked, Pace::kInPartsPaid);
  return 0;
}

int janus_nursery_state(const janus_nursery* pointer) {
  const Caller me = enter();
  const OrError<Nursery*> found = check(const_cast<janus_nursery*>(pointer), me);
  if (!found) return found.error;
  Nursery* const nursery = found.value;
  flush_local_count(worker_in(*nursery->runtime, me), *nursery);
  const NurseryState state = nursery_state(*nursery);
  if (state == NurseryState::kClosed || state == NurseryState::kCancelled) order_hooks::acquire(nursery);
  return static_cast<int>(state);
}

int janus_nursery_try_result(janus_nursery* pointer, janus_result* result) {
  const Caller me = enter();
  const OrError<Nursery*> found = check(pointer, me);
  if (!found) return found.error;
  Nursery* const nursery = found.value;
  flush_local_count(worker_in(*nursery->runtime, me), *nursery);
  if (!is_terminal(*nursery)) {
    const bool is_told = nursery_state(*nursery) == NurseryState::kCancelling;
    const Cause cause = is_told ? nursery->cancel_cause.load(std::memory_order_relaxed) : Cause::kNone;
    fill(result, {Outcome::kPending, 0, JANUS_PENDING, 0, is_told, cause});
    return JANUS_PENDING;
  }
  order_hooks::acquire(nursery);
  fill(result, report_of(*nursery));
  return 0;
}

long janus_nursery_await(janus_nursery* pointer, janus_result* result) {
  return await_in_general(pointer, result, platform::kForever);
}

int janus_nursery_destroy(janus_nursery* pointer) {
  const Caller me = enter();
  const OrError<Nursery*> found = check_owned(pointer, me);
  if (!found) return found.error;
  Nursery* const nursery = found.value;
  flush_local_count(worker_in(*nursery->runtime, me), *nursery);
  if (!is_terminal(*nursery)) return JANUS_PENDING;
  destroy_nursery(worker_in(*nursery->runtime, me), *nursery);
  return 0;
}

}  // extern "C"
