// SPDX-License-Identifier: Apache-2.0
// rt/abi/reports/stats.cpp — sums of the workers' counters.
#include "rt/abi/reports/stats.h"

#include <arch/opaque.h>

#include "rt/abi/reports/queues.h"
#include "rt/base/format.h"
#include "rt/task/record/price.h"
#include "rt/task/stacks/stack_marks.h"

namespace janus {

namespace {

// The figure to which a counter is added. A table, since code for each would be five times as long.
struct Addend {
  std::uint8_t figure, counter;  // in words
};
#define JANUS_ADDEND(figure, counter)                                                                    \
  Addend {                                                                                               \
    offsetof(janus_stats, figure) / sizeof(std::uint64_t), offsetof(Counters, counter) / sizeof(Counter) \
  }
constexpr Addend kAddends[] = {
    JANUS_ADDEND(tasks_spawned, spawned),
    JANUS_ADDEND(tasks_completed, completed),
    JANUS_ADDEND(tasks_completed, completed_inline),
    JANUS_ADDEND(tasks_cancelled, cancelled),
    JANUS_ADDEND(tasks_failed, failed),
    JANUS_ADDEND(tasks_panicked, panicked),
    JANUS_ADDEND(switches, switches),
    JANUS_ADDEND(yields, yields),
    JANUS_ADDEND(yields_charged, yields_charged),
    JANUS_ADDEND(steals, steals),
    JANUS_ADDEND(steals_failed, steals_failed),
    JANUS_ADDEND(steals_poor, steals_poor),
    JANUS_ADDEND(parks, parks),
    JANUS_ADDEND(wakes, wakes),
    JANUS_ADDEND(budget_exhaustions, exhaustions),
    JANUS_ADDEND(spawns_failed, spawns_failed),
    JANUS_ADDEND(ops_used, ops),
    JANUS_ADDEND(channel_ops, channel_ops),
    JANUS_ADDEND(syscalls, syscalls),
    JANUS_ADDEND(stack_steps, stack_steps),
    JANUS_ADDEND(cancel_requests, cancel_requests),
    JANUS_ADDEND(deadlocks, deadlocks),
    JANUS_ADDEND(nurseries_opened, nurseries_opened),
    JANUS_ADDEND(tasks_inline, inlined),
    JANUS_ADDEND(tasks_inline, completed_inline),
    JANUS_ADDEND(injected, injected),
    JANUS_ADDEND(fair_turns, fair_rounds),
    JANUS_ADDEND(tasks_pinned, pinned),
};
#undef JANUS_ADDEND
static_assert(sizeof(Counter) == sizeof(std::uint64_t) && sizeof(Counters) / sizeof(Counter) <= 256);

void add_up(Runtime& runtime, janus_stats& sum) noexcept {
  std::uint64_t nurseries_ended = 0;
  for (unsigned i = 0; i < runtime.scheduler.worker_count(); ++i) {
    const Counters& counters = runtime.scheduler.worker(i)->counters;
    for (const Addend& addend : kAddends)
      reinterpret_cast<std::uint64_t*>(&sum)[addend.figure] +=
          reinterpret_cast<const Counter*>(&counters)[addend.counter].read();
    nurseries_ended += counters.nurseries_ended.read();
  }
  sum.tasks_spawned += runtime.spawned_outside.load(std::memory_order_relaxed);
  const std::uint64_t ended = sum.tasks_completed + sum.tasks_cancelled + sum.tasks_failed + sum.tasks_panicked;
  sum.tasks_live = sum.tasks_spawned > ended ? sum.tasks_spawned - ended : 0;
  sum.nurseries_live = sum.nurseries_opened > nurseries_ended ? sum.nurseries_opened - nurseries_ended : 0;
}

// The table contains no pointers, since every program has it and pointers would have to be relocated.
// clang-format off
#define JANUS_ROWS(ROW) \
  ROW(workers) \
  ROW(workers_pinned) \
  ROW(seed) \
  ROW(yield_interval) \
  ROW(stack_size) \
  ROW(stack_max) \
  ROW(bytes_limit) \
  ROW(tasks_spawned) \
  ROW(tasks_completed) \
  ROW(tasks_cancelled) \
  ROW(tasks_failed) \
  ROW(tasks_panicked) \
  ROW(tasks_live) \
  ROW(tasks_inline) \
  ROW(tasks_pinned) \
  ROW(switches) \
  ROW(yields) \
  ROW(yields_charged) \
  ROW(steals) \
  ROW(steals_failed) \
  ROW(steals_poor) \
  ROW(parks) \
  ROW(wakes) \
  ROW(injected) \
  ROW(fair_turns) \
  ROW(nurseries_opened) \
  ROW(nurseries_live) \
  ROW(cancel_requests) \
  ROW(budget_exhaustions) \
  ROW(spawns_failed) \
  ROW(deadlocks) \
  ROW(ops_used) \
  ROW(channel_ops) \
  ROW(syscalls) \
  ROW(stack_steps) \
  ROW(stacks_in_use) \
  ROW(stacks_cached) \
  ROW(stacks_peak) \
  ROW(guard_pages) \
  ROW(stacks_installed) \
  ROW(stacks_protected) \
  ROW(stacks_canaried) \
  ROW(mappings) \
  ROW(bytes_in_use) \
  ROW(bytes_peak) \
  ROW(uptime_ns)
// clang-format on
#define JANUS_NAME(field) #field "\0"
#define JANUS_WORD(field) offsetof(janus_stats, field) / sizeof(std::uint64_t),
constexpr char kNames[] = JANUS_ROWS(JANUS_NAME);
constexpr std::uint8_t kWords[] = {JANUS_ROWS(JANUS_WORD)};
static_assert(sizeof(janus_stats) / sizeof(std::uint64_t) <= 256);
#undef JANUS_WORD
#undef JANUS_NAME
#undef JANUS_ROWS

}  // namespace

namespace {

// The order of events depends on prices, so that only hashes of the same prices are worth a comparison. 0: there is none.
constexpr std::uint64_t with_price_table(std::uint64_t hash) noexcept {
  return hash != 0 ? hash ^ price::kTable * 0x9e3779b97f4a7c15 : 0;
}

}  // namespace

janus_stats statistics_of(Runtime& runtime) noexcept {
  janus_stats sum{};
  add_up(runtime, sum);
  sum.size = sizeof(janus_stats);
  sum.stacks_in_use = runtime.stacks.stacks_in_use();
  sum.stacks_cached = runtime.stacks.stacks_cached();
  sum.stacks_peak = runtime.stacks.stacks_peak();
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
  sum.order_hash = with_price_table(runtime.scheduler.order_hash());
  sum.price_table = price::kTable;
  sum.workers = runtime.scheduler.worker_count();
  sum.workers_pinned = runtime.scheduler.idle_workers().pins().count();
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
  const char* name = kNames;
  for (const std::uint8_t word : kWords) {
    std::uint64_t value;
    __builtin_memcpy(&value, reinterpret_cast<const char*>(&sum) + word * sizeof value, sizeof value);
    table.append("janus: %-20s %20lu\n", name, value);
    while (*name++ != 0) {
    }
  }
  if (sum.order_hash != 0) table.append("janus: %-20s %#20lx\n", "order_hash", sum.order_hash);
  (void)!platform::write(2, table.data(), table.size());
  if (auto* const print_each = arch::opaque(&print_workers); print_each != nullptr) print_each(runtime);
  // Opaque, since a compiler that sees the whole runtime warns that this is always true.
  if (auto* const print_more = arch::opaque(&print_depths); print_more != nullptr) print_more(runtime);
}

}  // namespace janus
