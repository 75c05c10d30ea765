// SPDX-License-Identifier: Apache-2.0
// What programs compiled against version 1 rely on, written down a second time: values, layouts, prototypes. It
// compiles as C99, C11, C++11 and C++20, or the interface has changed. Only additions are right here; headers_test.py
// sees to it that nothing in rt.h is missing below. docs/decisions/0050
#include <janus/llvm.h>
#include <janus/rt.h>

#define JANUS_TEST_PASTE2(a, b) a##b
#define JANUS_TEST_PASTE(a, b) JANUS_TEST_PASTE2(a, b)
#define HOLDS(claim) typedef char JANUS_TEST_PASTE(janus_test_, __COUNTER__)[(claim) ? 1 : -1]
#define FIELD(type, field, offset, size) HOLDS(offsetof(type, field) == (offset) && sizeof(((type*)0)->field) == (size))

// ---- Values

HOLDS(JANUS_ABI_VERSION == 1);
HOLDS(JANUS_SUCCESS == 0);
HOLDS(JANUS_CANCELLED == -1);
HOLDS(JANUS_PANIC == -2);
HOLDS(JANUS_BUDGET_EXCEEDED == -3);
HOLDS(JANUS_PENDING == -4);
HOLDS(JANUS_E_CLOSED == -4097);
HOLDS(JANUS_E_WOULD_BLOCK == -4098);
HOLDS(JANUS_E_TIMEOUT == -4099);
HOLDS(JANUS_E_NO_TASK == -4100);
HOLDS(JANUS_E_NO_CAP == -4101);
HOLDS(JANUS_E_BUDGET == -4102);
HOLDS(JANUS_E_NO_MEMORY == -4103);
HOLDS(JANUS_E_STALE == -4104);
HOLDS(JANUS_E_INVALID == -4105);
HOLDS(JANUS_E_STATE == -4106);
HOLDS(JANUS_E_DEADLOCK == -4107);
HOLDS(JANUS_E_UNSUPPORTED == -4108);
HOLDS(JANUS_KIND_SUCCESS == 0u);
HOLDS(JANUS_KIND_CHILD_FAILED == 1u);
HOLDS(JANUS_KIND_CANCELLED == 2u);
HOLDS(JANUS_KIND_PANIC == 3u);
HOLDS(JANUS_KIND_BUDGET_EXCEEDED == 4u);
HOLDS(JANUS_KIND_PENDING == 5u);
HOLDS(JANUS_COMPONENT_OPS == 0);
HOLDS(JANUS_COMPONENT_MEMORY == 1);
HOLDS(JANUS_COMPONENT_SPAWN_COUNT == 2);
HOLDS(JANUS_COMPONENT_CHANNEL_OPS == 3);
HOLDS(JANUS_COMPONENT_SYSCALLS == 4);
HOLDS(JANUS_ON_ERROR_CANCEL == 0u);
HOLDS(JANUS_ON_ERROR_COLLECT == 1u);
HOLDS(JANUS_ON_EXHAUSTION_SUSPEND == 0u);
HOLDS(JANUS_ON_EXHAUSTION_FAIL == 1u);
HOLDS(JANUS_ON_EXHAUSTION_DENY == 2u);
HOLDS(JANUS_NURSERY_RECLAIM == 1u);
HOLDS(JANUS_PRIORITY_NORMAL == 0u);
HOLDS(JANUS_PRIORITY_HIGH == 1u);
HOLDS(JANUS_PRIORITY_LOW == 2u);
HOLDS(JANUS_SPAWN_DETACHED == 1u);
HOLDS(JANUS_SPAWN_RUN_CANCELLED == 2u);
HOLDS(JANUS_SEND == 0u);
HOLDS(JANUS_RECV == 1u);
HOLDS(JANUS_RT_DETERMINISTIC == 1u);
HOLDS(JANUS_RT_NO_PIN == 2u);
HOLDS(JANUS_RT_NO_SIGNALS == 4u);
HOLDS(JANUS_RT_PIN == 8u);
HOLDS(JANUS_RT_IGNORE_SIGPIPE == 16u);
HOLDS(JANUS_PROFILE_DEFAULT == 0u);
HOLDS(JANUS_PROFILE_SERVICE == 1u);
HOLDS(JANUS_PROFILE_CLUSTER == 2u);
HOLDS(JANUS_PROFILE_SOVEREIGN == 3u);
HOLDS(JANUS_VICTIM_RANDOM == 0u);
HOLDS(JANUS_VICTIM_ROUND_ROBIN == 1u);
HOLDS(JANUS_VICTIM_LEAST_LOADED == 2u);
HOLDS(JANUS_NURSERY_OPEN == 0);
HOLDS(JANUS_NURSERY_CLOSING == 1);
HOLDS(JANUS_NURSERY_CANCELLING == 2);
HOLDS(JANUS_NURSERY_CLOSED == 3);
HOLDS(JANUS_NURSERY_CANCELLED == 4);
HOLDS(JANUS_TASK_CREATED == 0);
HOLDS(JANUS_TASK_READY == 1);
HOLDS(JANUS_TASK_RUNNING == 2);
HOLDS(JANUS_TASK_BLOCKED == 3);
HOLDS(JANUS_TASK_BUDGET_EXHAUSTED == 4);
HOLDS(JANUS_TASK_COMPLETED == 5);
HOLDS(JANUS_TASK_FAILED == 6);
HOLDS(JANUS_TASK_CANCELLED == 7);
HOLDS(JANUS_FUEL_OFFSET == 8);
HOLDS(JANUS_YIELD_INTERVAL == 1024u);
HOLDS(JANUS_CAP_SPAWN == 1u);
HOLDS(JANUS_CAP_BUDGET == 2u);

// ---- Layouts: offset, size

HOLDS(sizeof(janus_result) == 32);
FIELD(janus_result, kind, 0, 4);
FIELD(janus_result, errors, 4, 4);
FIELD(janus_result, code, 8, 8);
FIELD(janus_result, task_id, 16, 8);
FIELD(janus_result, was_cancelled, 24, 4);
FIELD(janus_result, reserved, 28, 4);
HOLDS(sizeof(janus_task) == 8);
FIELD(janus_task, raw, 0, 8);
HOLDS(sizeof(janus_cap) == 8);
FIELD(janus_cap, raw, 0, 8);
HOLDS(sizeof(janus_local_key) == 4);
FIELD(janus_local_key, raw, 0, 4);
HOLDS(sizeof(janus_budget) == 24);
FIELD(janus_budget, ops, 0, 4);
FIELD(janus_budget, memory, 8, 8);
FIELD(janus_budget, spawn_count, 16, 2);
FIELD(janus_budget, channel_ops, 18, 2);
FIELD(janus_budget, syscalls, 20, 2);
HOLDS(sizeof(janus_nursery_options) == 64);
FIELD(janus_nursery_options, size, 0, 4);
FIELD(janus_nursery_options, on_error, 4, 4);
FIELD(janus_nursery_options, on_exhaustion, 8, 4);
FIELD(janus_nursery_options, flags, 12, 4);
FIELD(janus_nursery_options, budget, 16, 24);
FIELD(janus_nursery_options, cap, 40, 8);
FIELD(janus_nursery_options, name, 48, 8);
FIELD(janus_nursery_options, deadline_ns, 56, 8);
HOLDS(sizeof(janus_spawn_options) == 64);
FIELD(janus_spawn_options, size, 0, 4);
FIELD(janus_spawn_options, priority, 4, 4);
FIELD(janus_spawn_options, stack_size, 8, 8);
FIELD(janus_spawn_options, budget, 16, 24);
FIELD(janus_spawn_options, cap, 40, 8);
FIELD(janus_spawn_options, name, 48, 8);
FIELD(janus_spawn_options, flags, 56, 8);
HOLDS(sizeof(janus_select_case) == 24);
FIELD(janus_select_case, channel, 0, 8);
FIELD(janus_select_case, data, 8, 8);
FIELD(janus_select_case, op, 16, 4);
FIELD(janus_select_case, status, 20, 4);
HOLDS(sizeof(janus_rt_config) == 256);
FIELD(janus_rt_config, size, 0, 4);
FIELD(janus_rt_config, worker_count, 4, 4);
FIELD(janus_rt_config, deterministic_seed, 8, 8);
FIELD(janus_rt_config, flags, 16, 4);
FIELD(janus_rt_config, profile, 20, 4);
FIELD(janus_rt_config, yield_interval, 24, 4);
FIELD(janus_rt_config, stack_size, 28, 4);
FIELD(janus_rt_config, root_budget, 32, 24);
FIELD(janus_rt_config, memory, 56, 8);
FIELD(janus_rt_config, grace_ms, 64, 4);
FIELD(janus_rt_config, victim_strategy, 68, 4);
FIELD(janus_rt_config, fair_interval, 72, 4);
FIELD(janus_rt_config, cancel_grace_ops, 76, 4);
FIELD(janus_rt_config, stats, 80, 4);
FIELD(janus_rt_config, stack_cache, 84, 4);
FIELD(janus_rt_config, trace, 88, 8);
FIELD(janus_rt_config, start_thread, 96, 8);
FIELD(janus_rt_config, start_thread_context, 104, 8);
FIELD(janus_rt_config, slice_ops, 112, 8);
FIELD(janus_rt_config, stack_max, 120, 4);
FIELD(janus_rt_config, reserved, 124, 132);
HOLDS(sizeof(janus_stats) == 360);
FIELD(janus_stats, size, 0, 8);
FIELD(janus_stats, tasks_spawned, 8, 8);
FIELD(janus_stats, tasks_completed, 16, 8);
FIELD(janus_stats, tasks_cancelled, 24, 8);
FIELD(janus_stats, tasks_failed, 32, 8);
FIELD(janus_stats, tasks_panicked, 40, 8);
FIELD(janus_stats, tasks_live, 48, 8);
FIELD(janus_stats, switches, 56, 8);
FIELD(janus_stats, yields, 64, 8);
FIELD(janus_stats, steals, 72, 8);
FIELD(janus_stats, steals_failed, 80, 8);
FIELD(janus_stats, parks, 88, 8);
FIELD(janus_stats, wakes, 96, 8);
FIELD(janus_stats, budget_exhaustions, 104, 8);
FIELD(janus_stats, stacks_in_use, 112, 8);
FIELD(janus_stats, stacks_cached, 120, 8);
FIELD(janus_stats, guard_pages, 128, 8);
FIELD(janus_stats, mappings, 136, 8);
FIELD(janus_stats, bytes_in_use, 144, 8);
FIELD(janus_stats, order_hash, 152, 8);
FIELD(janus_stats, workers, 160, 8);
FIELD(janus_stats, spawns_failed, 168, 8);
FIELD(janus_stats, ops_used, 176, 8);
FIELD(janus_stats, channel_ops, 184, 8);
FIELD(janus_stats, syscalls, 192, 8);
FIELD(janus_stats, cancel_requests, 200, 8);
FIELD(janus_stats, deadlocks, 208, 8);
FIELD(janus_stats, nurseries_opened, 216, 8);
FIELD(janus_stats, nurseries_live, 224, 8);
FIELD(janus_stats, tasks_inline, 232, 8);
FIELD(janus_stats, stacks_installed, 240, 8);
FIELD(janus_stats, stacks_protected, 248, 8);
FIELD(janus_stats, stacks_canaried, 256, 8);
FIELD(janus_stats, bytes_peak, 264, 8);
FIELD(janus_stats, bytes_limit, 272, 8);
FIELD(janus_stats, yields_charged, 280, 8);
FIELD(janus_stats, workers_pinned, 288, 8);
FIELD(janus_stats, injected, 296, 8);
FIELD(janus_stats, uptime_ns, 304, 8);
FIELD(janus_stats, seed, 312, 8);
FIELD(janus_stats, yield_interval, 320, 8);
FIELD(janus_stats, stack_size, 328, 8);
FIELD(janus_stats, fair_turns, 336, 8);
FIELD(janus_stats, stack_max, 344, 8);
FIELD(janus_stats, stack_steps, 352, 8);
HOLDS(sizeof(janus_task32) == 16);
FIELD(janus_task32, fn, 0, 8);
FIELD(janus_task32, arg, 8, 8);
// ---- Function types: assigning one that is declared differently is the compiler's error

int64_t janus_test_task(void* arg);
int64_t janus_test_noarg(void);
int32_t janus_test_task32(void* arg);
int janus_test_start_thread(void (*entry)(void* arg), void* arg, void* context);
extern const janus_task_fn janus_test_task_pointer;
extern const janus_task_noarg_fn janus_test_noarg_pointer;
extern const janus_task32_fn janus_test_task32_pointer;
extern const janus_start_thread_fn janus_test_start_thread_pointer;
const janus_task_fn janus_test_task_pointer = &janus_test_task;
const janus_task_noarg_fn janus_test_noarg_pointer = &janus_test_noarg;
const janus_task32_fn janus_test_task32_pointer = &janus_test_task32;
const janus_start_thread_fn janus_test_start_thread_pointer = &janus_test_start_thread;

// ---- Prototypes: declaring one differently is the compiler's error

#ifdef __cplusplus
extern "C" {
#endif
extern const char janus_abi_1;
extern const janus_rt_config janus_config;
void janus_rt_init(janus_rt_config config);
void janus_rt_shutdown(void);
void* janus_nursery_create(void);
int janus_nursery_spawn(janus_task_fn fn, void* arg);
long janus_nursery_await_all(void);
janus_nursery* janus_nursery_open(janus_rt* rt, const janus_nursery_options* options);
janus_task janus_nursery_spawn_in(janus_nursery* nursery, janus_task_fn fn, void* arg,
                                  const janus_spawn_options* options);
int janus_nursery_close(janus_nursery* nursery);
int janus_nursery_cancel(janus_nursery* nursery);
int janus_nursery_state(const janus_nursery* nursery);
int janus_nursery_try_result(janus_nursery* nursery, janus_result* result);
long janus_nursery_await(janus_nursery* nursery, janus_result* result);
int janus_nursery_destroy(janus_nursery* nursery);
int janus_nursery_recharge(janus_nursery* nursery, janus_budget amount);
int janus_task_join(janus_task task, int64_t* result);
int janus_task_result(janus_task task, janus_result* result);
int janus_task_release(janus_task task);
int janus_task_cancel(janus_task task);
int janus_task_state(janus_task task);
janus_task janus_task_self(void);
uint64_t janus_task_id(void);
int janus_cancelled(void);
void janus_task_panic(const char* why);
int janus_task_set_name(const char* name);
int janus_last_error(void);
const char* janus_last_error_text(char* text, size_t size);
const char* janus_strerror(int64_t value);
int janus_task_pin(void);
int janus_task_unpin(void);
int janus_local_new(janus_local_key* key, void (*destroy)(void* value));
int janus_local_delete(janus_local_key key);
void* janus_local_get(janus_local_key key);
int janus_local_set(janus_local_key key, void* value);
int janus_yield(void);
int janus_yield_slow(void);
int janus_sleep_ns(uint64_t ns);
uint64_t janus_now_ns(void);
int64_t janus_unix_time_ns(void);
int janus_park(int64_t timeout_ns);
int janus_unpark(janus_task task);
janus_channel* janus_channel_create(size_t element_size, size_t capacity);
janus_channel* janus_channel_retain(janus_channel* channel);
void janus_channel_release(janus_channel* channel);
int janus_channel_send(janus_channel* channel, const void* element);
int janus_channel_recv(janus_channel* channel, void* element);
int janus_channel_try_send(janus_channel* channel, const void* element);
int janus_channel_try_recv(janus_channel* channel, void* element);
int janus_channel_close(janus_channel* channel);
int janus_select(janus_select_case* cases, size_t count, int64_t timeout_ns);
janus_budget janus_budget_get_current(void);
int janus_budget_recharge(janus_budget amount);
int janus_budget_grant64(janus_nursery* nursery, int component, uint64_t amount);
janus_cap janus_cap_root(janus_rt* rt);
janus_cap janus_cap_derive(janus_cap cap, uint32_t rights, janus_budget limit);
int janus_cap_revoke(janus_cap cap);
void* janus_alloc(size_t size);
void* janus_alloc_aligned(size_t align, size_t size);
void* janus_realloc(void* block, size_t size);
void janus_free(void* block);
int janus_print(int fd, const char* format, ...);
int janus_write(int fd, const void* bytes, size_t size);
int64_t janus_syscall(long nr, ...);
int64_t janus_blocking(janus_task_fn fn, void* arg);
int janus_entropy(void* bytes, size_t size);
void janus_exit(int status);
int janus_rt_try_init(const janus_rt_config* config);
janus_rt* janus_rt_create(const janus_rt_config* config);
void janus_rt_destroy(janus_rt* rt);
long janus_rt_run(janus_rt* rt, janus_task_fn fn, void* arg);
void janus_rt_stats(janus_rt* rt, janus_stats* out);
int janus_safepoint_stop(janus_rt* rt, int64_t timeout_ns);
int janus_safepoint_resume(janus_rt* rt);
janus_rt* janus_rt_get(void);
void* janus_scheduler_create(janus_rt_config config);
void janus_scheduler_shutdown(void* scheduler);
int janus_scheduler_spawn(void* func, void* arg);
int janus_scheduler_yield(void);
static inline int janus_yield_check(uint32_t cost);
static inline int janus_loop_check(uint32_t* counter);
static inline int janus_loop_end(uint32_t* counter);
static inline int64_t janus_run_task32(void* call);
static inline int64_t janus_run_noarg(void* fn);
static inline void* janus_noarg_arg(janus_task_noarg_fn fn);
// Macros that are no constants.
int frozen_macros(uint32_t counter);
int frozen_macros(uint32_t counter) {
  const janus_budget all = JANUS_BUDGET_ALL;
  return JANUS_LOOP_CHECK(counter) + (all.ops == UINT32_MAX);
}
#ifdef __cplusplus
}
#endif
