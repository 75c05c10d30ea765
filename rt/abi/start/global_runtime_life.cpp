// SPDX-License-Identifier: Apache-2.0
// rt/abi/start/global_runtime_life.cpp — begins and ends the process's runtime.
#include "rt/abi/start/global_runtime_life.h"

#include "rt/abi/entry/entry.h"
#include "rt/abi/reports/reporting.h"
#include "rt/abi/start/config.h"
#include "rt/abi/start/runtime_options.h"
#include "rt/optional.h"
#include "rt/task/account/exhaustion.h"
#include "rt/task/report/log.h"

// Defined by the host's C library, if there is one.
extern "C" [[JANUS_OF_PROGRAM]] char** environ;

namespace janus {

namespace {

RankedLock<LockRank::kProcess> beginning;

using Prepare = void (*)(Runtime& runtime, const janus_rt_config& config) noexcept;

// Starts the process's runtime: 0, or the error. `prepare`, unless nullptr, is called before the runtime runs a task.
[[gnu::noinline, gnu::cold]] int begin(const janus_rt_config* config, Prepare prepare) noexcept {
  if (is_own_program()) return JANUS_E_STATE;
  janus_rt_config given;
  if (config != nullptr) read_user_bytes(&given, config, sizeof given);
  LockGuard guard(beginning);
  if (process_runtime() != nullptr) return JANUS_E_STATE;
  Settings settings{};
  Complaint complaint;
  const char* const* const environment = &environ != nullptr ? environ : nullptr;
  if (!parse_settings(environment, settings, complaint)) {
    complaint.end_line();
    say(complaint.data(), complaint.size());
    return JANUS_E_INVALID;
  }
  say_misspelt(environment, settings);
  const janus_rt_config merged = merge(settings, config != nullptr ? &given : nullptr);
  if (const int error = check_config(merged, complaint)) return error;
  RuntimeOptions options = options_of(merged);
  options.ends_by_panic = settings.core;
  const OrError<Runtime*> runtime = create_registered(options);
  if (!runtime) return runtime.error;
  if (prepare != nullptr) prepare(*runtime.value, merged);
  set_process_runtime(runtime.value);
  return 0;
}

}  // namespace

Runtime* process_runtime_or_new() noexcept {
#ifdef JANUS_NO_AUTOINIT
  return process_runtime();
#else
  if (Runtime* const runtime = process_runtime()) return runtime;
  (void)begin(nullptr, nullptr);
  return process_runtime();
#endif
}

}  // namespace janus

using namespace janus;

extern "C" {

void janus_rt_init(janus_rt_config config) {
  (void)janus_rt_try_init(&config);
}

int janus_rt_try_init(const janus_rt_config* config) {
  const int error = enter_outside();
  if (error != 0) return error;
  return begin(config, [](Runtime& runtime, const janus_rt_config& merged) noexcept {
    let_wait_for_budgets(runtime);
    begin_reporting(runtime, merged);
  });
}

void janus_rt_shutdown(void) {
  if (enter_outside() != 0 || is_own_program()) return;
  LockGuard guard(beginning);
  (void)destroy_registered(take_process_runtime());
}

janus_rt* janus_rt_get(void) {
  return reinterpret_cast<janus_rt*>(process_runtime());
}

}  // extern "C"
