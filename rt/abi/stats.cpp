// SPDX-License-Identifier: Apache-2.0
// rt/abi/stats.cpp — adding up what the workers counted.
#include "rt/abi/stats.h"

#include "rt/base/format.h"

namespace janus {

namespace {

void add_up(Runtime& runtime, janus_stats& sum) noexcept {
  std::uint64_t nurseries_ended = 0;
  for (unsigned i = 0; i < runtime.scheduler.worker_count(); ++i) {
    const Counters& c = runtime.scheduler.worker(i)->counters;
    sum.tasks_spawned += c.spawned.read();
    sum.tasks_completed += c.completed.read() + c.completed_inline.read();
    sum.tasks_cancelled += c.cancelled.read();
    sum.tasks_failed += c.failed.read();
    sum.tasks_panicked += c.panicked.read();
    sum.switches += c.switches.read();
    sum.yields += c.yields.read();
    sum.yields_charged += c.yields_charged.read();
    sum.steals += c.steals.read();
    sum.steals_failed += c.steals_failed.read();
    sum.parks += c.parks.read();
    sum.wakes += c.wakes.read();
    sum.budget_exhaustions += c.exhaustions.read();
    sum.spawns_failed += c.spawns_failed.read();
    sum.ops_used += c.ops.read();
    sum.channel_ops += c.channel_ops.read();
    sum.syscalls += c.syscalls.read();
    sum.stack_steps += c.stack_steps.read();
    sum.cancel_requests += c.cancel_requests.read();
    sum.deadlocks += c.deadlocks.read();
    sum.nurseries_opened += c.nurseries_opened.read();
    nurseries_ended += c.nurseries_ended.read();
    sum.tasks_inline += c.inlined.read() + c.completed_inline.read();
    sum.injected += c.injected.read();
    sum.fair_turns += c.fair_rounds.read();
  }
  sum.tasks_spawned += runtime.spawned_outside.load(std::memory_order_relaxed);
  const std::uint64_t ended = sum.tasks_completed + sum.tasks_cancelled + sum.tasks_failed + sum.tasks_panicked;
  sum.tasks_live = sum.tasks_spawned > ended ? sum.tasks_spawned - ended : 0;
  sum.nurseries_live = sum.nurseries_opened > nurseries_ended ? sum.nurseries_opened - nurseries_ended : 0;
}

struct Row {
  const char* name;
  std::size_t offset;
};
#define JANUS_ROW(field) \
  { #field, offsetof(janus_stats, field) }
constexpr Row kRows[] = {
    JANUS_ROW(workers),
    JANUS_ROW(workers_pinned),
    JANUS_ROW(seed),
    JANUS_ROW(yield_interval),
    JANUS_ROW(stack_size),
    JANUS_ROW(stack_max),
    JANUS_ROW(bytes_limit),
    JANUS_ROW(tasks_spawned),
    JANUS_ROW(tasks_completed),
    JANUS_ROW(tasks_cancelled),
    JANUS_ROW(tasks_failed),
    JANUS_ROW(tasks_panicked),
    JANUS_ROW(tasks_live),
    JANUS_ROW(tasks_inline),
    JANUS_ROW(switches),
    JANUS_ROW(yields),
    JANUS_ROW(yields_charged),
    JANUS_ROW(steals),
    JANUS_ROW(steals_failed),
    JANUS_ROW(parks),
    JANUS_ROW(wakes),
    JANUS_ROW(injected),
    JANUS_ROW(fair_turns),
    JANUS_ROW(nurseries_opened),
    JANUS_ROW(nurseries_live),
    JANUS_ROW(cancel_requests),
    JANUS_ROW(budget_exhaustions),
    JANUS_ROW(spawns_failed),
    JANUS_ROW(deadlocks),
    JANUS_ROW(ops_used),
    JANUS_ROW(channel_ops),
    JANUS_ROW(syscalls),
    JANUS_ROW(stack_steps),
    JANUS_ROW(stacks_in_use),
    JANUS_ROW(stacks_cached),
    JANUS_ROW(guard_pages),
    JANUS_ROW(stacks_installed),
    JANUS_ROW(stacks_protected),
    JANUS_ROW(stacks_canaried),
    JANUS_ROW(mappings),
    JANUS_ROW(bytes_in_use),
    JANUS_ROW(bytes_peak),
    JANUS_ROW(uptime_ns),
};
#undef JANUS_ROW

}  // namespace

janus_stats statistics_of(Runtime& runtime) noexcept {
  janus_stats sum{};
  add_up(runtime, sum);
  sum.size = sizeof(janus_stats);
  sum.stacks_in_use = runtime.stacks.stacks_in_use();
  sum.stacks_cached = runtime.stacks.stacks_cached();
  sum.guard_pages = runtime.stacks.guard_pages();
  sum.stacks_protected = runtime.stacks.mprotected();
  sum.stacks_installed = sum.guard_pages - sum.stacks_protected;
  sum.stacks_canaried = runtime.stacks.unguarded();
  sum.mappings = runtime.stacks.mappings() + runtime.heap.mappings() + runtime.tasks.mappings() +
                 runtime.nurseries.mappings() + runtime.channels.mappings();
  sum.bytes_in_use = runtime.heap.bytes_in_use();
  sum.bytes_limit = runtime.memory_limit;
  const std::uint64_t least = runtime.accounts.least_memory();
  sum.bytes_peak = least < runtime.memory_limit ? runtime.memory_limit - least : 0;
  sum.order_hash = runtime.scheduler.order_hash();
  sum.workers = runtime.scheduler.worker_count();
  sum.workers_pinned = runtime.scheduler.pinned();
  sum.uptime_ns = runtime.scheduler.now_ns() - runtime.started_ns;
  sum.seed = runtime.scheduler.is_deterministic() ? runtime.options.seed : 0;
  sum.yield_interval = runtime.options.yield_interval;
  sum.stack_size = stack_class_bytes(runtime.options.stack_class);
  sum.stack_max = runtime.options.stack_max;
  return sum;
}

void print_statistics(Runtime& runtime) noexcept {
  const janus_stats sum = statistics_of(runtime);
  Text<4096> table;
  const RuntimeOptions& options = runtime.options;
  constexpr const char* kPinned[] = {"while several work", "no", "yes"};
  table.append("janus: %-20s %20s\n", "profile", options.profile == JANUS_PROFILE_CLUSTER ? "cluster" : "service");
  table.append("janus: %-20s %20u\n", "grace_ms", options.grace_ms);
  table.append("janus: %-20s %20s\n", "pin", kPinned[options.pin + 1]);
  for (const Row& row : kRows) {
    std::uint64_t value;
    __builtin_memcpy(&value, reinterpret_cast<const char*>(&sum) + row.offset, sizeof value);
    table.append("janus: %-20s %20lu\n", row.name, value);
  }
  if (sum.order_hash != 0) table.append("janus: %-20s %#20lx\n", "order_hash", sum.order_hash);
  (void)!platform::write(2, table.data(), table.size());
}

}  // namespace janus
