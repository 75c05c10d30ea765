// SPDX-License-Identifier: Apache-2.0
// rt/abi/runtime.cpp — isolated runtimes, statistics, and the functions janus_scheduler_*, which compilers call.
#include "rt/abi/entry/entry.h"
#include "rt/abi/entry/runtime_table.h"
#include "rt/abi/reports/queues.h"
#include "rt/abi/reports/reporting.h"
#include "rt/abi/reports/stats.h"
#include "rt/abi/start/config.h"
#include "rt/abi/start/runtime_options.h"
#include "rt/include/janus/llvm.h"
#include "rt/task/account/exhaustion.h"
#include "rt/task/run/runtime_life.h"

namespace janus {

namespace {

// False: there is no such runtime. `rt` may be any pointer.
bool read_statistics(const Caller& me, janus_rt* rt, janus_stats& out) noexcept {
  const bool is_own = me.task != nullptr && reinterpret_cast<Runtime*>(rt) == me.worker->runtime;
  const bool is_other = rt != nullptr && !is_own;
  const RuntimeOfPointer other(is_other ? rt : nullptr);
  Runtime* const runtime = is_other ? other.get() : runtime_or_own(rt, me);
  if (runtime == nullptr) return false;
  out = statistics_of(*runtime);
  add_states(*runtime, out);
  return true;
}

// 0, or the error. `rt` may be any pointer.
int read_worker(const Caller& me, janus_rt* rt, std::uint32_t number, janus_worker_stats& out) noexcept {
  const bool is_own = me.task != nullptr && reinterpret_cast<Runtime*>(rt) == me.worker->runtime;
  const bool is_other = rt != nullptr && !is_own;
  const RuntimeOfPointer other(is_other ? rt : nullptr);
  Runtime* const runtime = is_other ? other.get() : runtime_or_own(rt, me);
  if (runtime == nullptr) return rt != nullptr ? JANUS_E_STALE : JANUS_E_STATE;
  if (number >= runtime->scheduler.worker_count()) return JANUS_E_INVALID;
  out = statistics_of(*runtime->scheduler.worker(number));
  return 0;
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" {

janus_rt* janus_rt_create(const janus_rt_config* config) {
  if (enter_outside() != 0) return nullptr;
  const janus_rt_config merged = merge({}, config);
  Complaint complaint;
  const int error = check_config(merged, complaint);
  const OrError<Runtime*> runtime = error == 0 ? create_registered(options_of(merged)) : Failed{error};
  if (runtime) {
    let_wait_for_budgets(*runtime.value);  // the config may give the root task a budget
    begin_reporting(*runtime.value, merged);
  } else {
    set_error(enter_free(), runtime.error);
  }
  return reinterpret_cast<janus_rt*>(runtime.value);
}

void janus_rt_destroy(janus_rt* rt) {
  if (enter_outside() != 0) return;
  if (rt != nullptr && !destroy_registered(rt)) set_error(enter_free(), JANUS_E_STALE);
}

long janus_rt_run(janus_rt* rt, janus_task_fn fn, void* arg) {
  if (const int error = enter_outside()) return error;
  if (rt != nullptr && !is_runtime(rt)) return JANUS_E_STALE;
  Runtime* const runtime = rt != nullptr ? reinterpret_cast<Runtime*>(rt) : process_runtime();
  if (fn == nullptr) return JANUS_E_INVALID;
  if (runtime == nullptr) return JANUS_E_STATE;
  return static_cast<long>(run_root(*runtime, fn, arg, kRootStackClass));
}

void janus_rt_stats(janus_rt* rt, janus_stats* out) {
  Caller me = enter(price::kCall + price::kStatistics);
  if (out == nullptr) return;
  if (me.task != nullptr) charge_more(me, price::kStatistics * me.worker->scheduler->worker_count());
  const auto size = read_user<std::uint64_t>(out);
  janus_stats sum;
  if (size < sizeof sum.size) return;
  if (!read_statistics(me, rt, sum))
    return set_error(me, rt != nullptr ? JANUS_E_STALE : with_why(JANUS_E_STATE, Why::kNoRuntime));
  sum.size = size;
  write_user_bytes(out, &sum, size < sizeof sum ? size : sizeof sum);
}

int janus_rt_worker_stats(janus_rt* rt, uint32_t worker, janus_worker_stats* out) {
  const Caller me = enter(price::kCall + price::kStatistics);
  if (out == nullptr) return JANUS_E_INVALID;
  const auto size = read_user<std::uint64_t>(out);
  janus_worker_stats stats;
  if (size < sizeof stats.size) return JANUS_E_INVALID;
  if (const int error = read_worker(me, rt, worker, stats)) return error;
  stats.size = size;
  write_user_bytes(out, &stats, size < sizeof stats ? size : sizeof stats);
  return 0;
}

void* janus_scheduler_create(janus_rt_config config) {
  return janus_rt_create(&config);
}
void janus_scheduler_shutdown(void* scheduler) {
  janus_rt_destroy(static_cast<janus_rt*>(scheduler));
}
int janus_scheduler_spawn(void* func, void* arg) {
  return janus_nursery_spawn(reinterpret_cast<janus_task_fn>(func), arg);
}
int janus_scheduler_yield(void) {
  return janus_yield();
}

}  // extern "C"
