// SPDX-License-Identifier: Apache-2.0
// rt/abi/global_runtime.cpp — the adapter: the process's runtime, and the C illusion of a current nursery. In a task
// that is the task's own, so that it survives migration; outside tasks it belongs to the thread.
#include "rt/abi/global_runtime.h"

#include "rt/abi/config.h"
#include "rt/abi/door.h"
#include "rt/abi/runtime_options.h"
#include "rt/abi/runtime_table.h"
#include "rt/task/log.h"

// The host's, where it has a C library.
extern "C" [[gnu::weak]] char** environ;

namespace janus {

namespace {

// The one mutable global of the runtime, for hosts and compilers that name none.
std::atomic<Runtime*> the_runtime{nullptr};
RankedLock<LockRank::kProcess> beginning;
std::atomic<bool> is_program{false};

[[gnu::noinline, gnu::cold]] int begin(const janus_rt_config* config) noexcept {
  if (is_program.load(std::memory_order_relaxed)) return JANUS_E_STATE;
  janus_rt_config given;
  if (config != nullptr) read_user_bytes(&given, config, sizeof given);
  LockGuard guard(beginning);
  if (the_runtime.load(std::memory_order_relaxed) != nullptr) return JANUS_E_STATE;
  Settings settings{};
  Complaint complaint;
  if (!parse_settings(&environ != nullptr ? environ : nullptr, settings, complaint)) {
    complaint.end_line();
    say(complaint.data(), complaint.size());
    return JANUS_E_INVALID;
  }
  const janus_rt_config merged = merge(settings, config != nullptr ? &given : nullptr);
  int error = check_config(merged, complaint);
  if (error != 0) return error;
  RuntimeOptions options = options_of(merged);
  options.ends_by_panic = settings.core;
  Runtime* const runtime = create_registered(options, &error);
  if (runtime == nullptr) return error;
  the_runtime.store(runtime, std::memory_order_release);
  return 0;
}

}  // namespace

Runtime* process_runtime() noexcept {
  return the_runtime.load(std::memory_order_acquire);
}
void set_process_runtime(Runtime* runtime) noexcept {
  the_runtime.store(runtime, std::memory_order_release);
}
void forget_process_runtime(Runtime* runtime) noexcept {
  (void)the_runtime.compare_exchange_strong(runtime, nullptr, std::memory_order_acq_rel);
}
bool every_thread_is_worker = false;
void mark_as_program() noexcept {
  is_program.store(true, std::memory_order_relaxed);
  every_thread_is_worker = true;
}

Runtime* process_runtime_or_new() noexcept {
#ifdef JANUS_NO_AUTOINIT
  return process_runtime();
#else
  if (Runtime* const runtime = process_runtime()) return runtime;
  (void)begin(nullptr);
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
  return error != 0 ? error : begin(config);
}

void janus_rt_shutdown(void) {
  if (enter_outside() != 0 || is_program.load(std::memory_order_relaxed)) return;
  LockGuard guard(beginning);
  (void)destroy_registered(the_runtime.exchange(nullptr, std::memory_order_acq_rel));
}

janus_rt* janus_rt_get(void) {
  return reinterpret_cast<janus_rt*>(process_runtime());
}

}  // extern "C"
