// SPDX-License-Identifier: Apache-2.0
// memory_limits_test.cpp — tasks without a budget of their own use the root's memory. A task that spawns or blocks more
// of them than there is memory for gets an error, and no other task is affected.
#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr std::size_t kStack = kIsWatched ? 65536 : 8192;
constexpr std::size_t kMemory = std::size_t{64} << 20;
constexpr std::size_t kRecord = 128;
constexpr std::size_t max_with(std::size_t memory) {
  return memory + memory / 16 + (std::size_t{2} << 20);  // with freed memory that the runtime keeps
}
constexpr std::size_t kMax = max_with(kMemory);

janus_rt_config with_memory(unsigned workers, std::size_t memory = kMemory) {
  janus_rt_config config = with_workers(workers);
  config.memory = memory;
  return config;
}

janus_task spawn_detached(janus_nursery* nursery, janus_task_fn fn, void* arg) {
  janus_spawn_options options = {};
  options.flags = JANUS_SPAWN_DETACHED;
  return janus_nursery_spawn_in(nursery, fn, arg, &options);
}

// Spawns until a spawn is refused, and runs all tasks; returns their number.
long spawn_all(std::atomic<int>& ran) {
  ran = 0;
  Scope scope;
  long spawned = 0;
  while (spawned < 1'000'000 && spawn_detached(scope.get(), count_up, &ran).raw != 0) ++spawned;
  CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
  CHECK_EQ(scope.end(), 0);
  CHECK_EQ(ran.load(), spawned);
  return spawned;
}

// Tasks that block at a channel, and the results of their waits.
struct Gate {
  Gate() : channel(janus_channel_create(1, 0)) { CHECK(channel != nullptr); }
  ~Gate() { janus_channel_release(channel); }

  static std::int64_t wait_at(void* self) {
    auto* const gate = static_cast<Gate*>(self);
    char nothing;
    gate->waiting.fetch_add(1);
    const int status = janus_channel_recv(gate->channel, &nothing);
    if (status == JANUS_E_NO_MEMORY) gate->refused.fetch_add(1);
    return status == JANUS_E_CLOSED || status == JANUS_E_NO_MEMORY ? 0 : -1;
  }
  // Stops the caller's worker for a millisecond, so that other threads get the processor.
  static void rest() {
    std::atomic<std::uint32_t> nobody{0};
    platform::wait(nobody, 0, platform::now_ns() + 1'000'000);
  }
  // Yields until all spawned tasks wait. False: in so many rests, one after the other, no more of them came to wait. Where
  // the memory for stacks is exhausted, tasks start only when others end. Rests are counted, not the time, since an
  // emulated processor stands still when the machine around it is busy.
  bool all_wait(long spawned) const {
    constexpr int kMostRests = 500;
    for (int rests = 0; waiting != spawned;) {
      const long before = waiting;
      janus_yield();
      if (waiting != before) {
        rests = 0;
      } else {
        if (++rests > kMostRests) return false;
        rest();
      }
    }
    return true;
  }
  // Spawns up to `most` tasks, a thousand at a time, as long as all of them come to block. Returns how many are blocked
  // then.
  long gather(janus_nursery* nursery, long most) {
    long spawned = 0;
    while (spawned < most && spawn_detached(nursery, wait_at, this).raw != 0)
      if (++spawned % 1000 == 0 && !all_wait(spawned)) break;
    ran_dry = !all_wait(spawned) || refused != 0;
    return waiting - refused;
  }
  int open() { return janus_channel_close(channel); }

  janus_channel* channel;
  std::atomic<long> waiting{0}, refused{0};
  bool ran_dry = false;
};

long block_all() {
  Gate gate;
  Scope scope;
  const long blocked = gate.gather(scope.get(), 1'000'000);
  CHECK(gate.ran_dry);
  CHECK_EQ(gate.open(), 0);
  (void)scope.end();  // a task that got only a smaller stack to start on has panicked
  return blocked;
}

}  // namespace

TEST(memory, a_million_spawned_are_refused_where_the_roots_memory_ends) {
  constexpr std::size_t kAll = kIsWatched ? kMemory / 4 : kMemory;
  janus_rt_config config = with_memory(1, kAll);
  // A spawn is a yield point; a long interval keeps children from running before all are spawned.
  config.yield_interval = 1u << 20;
  run_in(config, [] {
    std::atomic<int> ran{0};
    const long first = spawn_all(ran);
    CHECK_LE(first, static_cast<long>(max_with(kAll) / kRecord));
    CHECK_GE(first, static_cast<long>(kAll / kRecord * 3 / 4));
    CHECK_GE(spawn_all(ran), first * 3 / 4);
  });
}

TEST(memory, a_million_blocked_are_refused_where_the_roots_memory_ends) {
  for (unsigned workers : {1u, 4u})
    run_in(with_memory(workers), [] {
      const long first = block_all();
      CHECK_LE(first, static_cast<long>(kMax / kStack));
      CHECK_GE(first, static_cast<long>(kMemory / kStack / 2));
      // Their memory is available again, for other stacks and for blocks.
      void* const block = janus_alloc(kMemory / 2);
      CHECK(block != nullptr);
      janus_free(block);
      CHECK_GE(block_all(), first * 3 / 4);
    });
}

TEST(memory, a_park_that_gets_no_stack_returns_an_error) {
  run_in(with_memory(1, std::size_t{32} << 20), [] {
    static std::atomic<long> parked, refused;
    parked = refused = 0;
    Scope scope;
    auto park = [](void*) -> std::int64_t {
      parked.fetch_add(1);
      const int status = janus_park(-1);
      if (status == JANUS_E_NO_MEMORY) refused.fetch_add(1);
      return status == JANUS_E_NO_MEMORY ? 0 : status;
    };
    long spawned = 0;
    while (spawned < 20'000 && spawn_detached(scope.get(), park, nullptr).raw != 0)
      if (++spawned % 1000 == 0) janus_yield();
    for (long before = -1; parked != before && parked != spawned; janus_yield()) before = parked;
    scope.cancel();
    janus_result result = {};
    CHECK_EQ(scope.end(&result), JANUS_CANCELLED);
    CHECK_EQ(result.errors, 0u);
    CHECK(refused > 0);
  });
}

TEST(memory, a_cage_gets_its_stacks_when_the_root_is_dry) {
  for (unsigned workers : {1u, 4u})
    run_in(with_memory(workers), [] {
      constexpr long kTasks = 100;
      janus_budget budget = JANUS_BUDGET_ALL;
      budget.memory = kTasks * (kStack + kRecord);
      Gate crowd, few;
      Scope paid(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, budget), hungry;
      crowd.gather(hungry.get(), 1'000'000);
      CHECK(crowd.ran_dry);
      CHECK_EQ(few.gather(paid.get(), kTasks), kTasks);
      CHECK(!few.ran_dry);
      CHECK_EQ(spawn_detached(paid.get(), return_zero, nullptr).raw, 0u);  // the cage has paid for no more than kTasks
      CHECK_EQ(few.open() + crowd.open(), 0);
      CHECK_EQ(paid.end(), 0);
      (void)hungry.end();
    });
}

TEST(memory, a_nursery_that_was_granted_all_memory_can_use_it) {
  for (unsigned workers : {1u, 4u})
    run_in(with_memory(workers), [] {
      Gate gate;
      Scope all(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, JANUS_BUDGET_ALL);
      const long blocked = gate.gather(all.get(), 1'000'000);
      CHECK(!gate.ran_dry);  // a spawn fails first, since each spawn pays for the task's stack
      CHECK_LE(blocked, static_cast<long>(kMemory / kStack));
      CHECK_GE(blocked, static_cast<long>(kMemory / kStack * 3 / 4));
      CHECK_EQ(gate.open(), 0);
      CHECK_EQ(all.end(), 0);
    });
}

namespace {

// Awaits its children on a stack that is too small to run them on.
std::int64_t branch(void* depth) {
  const std::int64_t left = reinterpret_cast<std::intptr_t>(depth);
  if (left == 0) return 0;
  janus_nursery* const nursery = janus_nursery_open(nullptr, nullptr);
  if (nursery == nullptr) return janus_last_error();
  for (int i = 0; i < 2; ++i) (void)spawn_detached(nursery, branch, as_arg(left - 1));
  janus_yield();
  const long result = janus_nursery_await(nursery, nullptr);
  CHECK_EQ(janus_nursery_destroy(nursery), 0);
  return result;
}

}  // namespace

// Allocates as many blocks of each size as there is memory for, then frees all but one in each 64 KiB: the rest is few
// bytes, but keeps all those pages.
TEST(memory, pages_that_few_blocks_keep_in_use_count_against_the_limit) {
  if (kIsWatched) SKIP("a sanitizer's runtime has the C library's heap");
  constexpr std::size_t kAll = std::size_t{8} << 20, kPart = 65536, kParts = 65536;
  constexpr std::size_t kMaxOfPages = kAll + kAll / 8 + (16u << 20);
  struct Block {
    Block* next;
  };
  std::size_t kept = 0;
  run_in(with_memory(1, kAll), [&] {
    std::size_t before = 0;
    for (std::size_t bytes = 16; bytes <= 32768; bytes += bytes < 128 ? 16 : bytes / 8) {
      Block* all = nullptr;
      while (auto* const block = static_cast<Block*>(janus_alloc(bytes))) {
        block->next = all;
        all = block;
      }
      before = kept;
      static bool has_one[kParts];
      for (bool& has : has_one) has = false;
      while (all != nullptr) {
        Block* const next = all->next;
        bool& has = has_one[reinterpret_cast<std::uintptr_t>(all) / kPart % kParts];
        has ? janus_free(all) : void(++kept);
        has = true;
        all = next;
      }
    }
    CHECK_EQ(kept, before);  // the largest sizes get no more memory
    CHECK_GT(janus_budget_get_current().memory, kAll / 4);
  });
  CHECK_LE(kept * kPart, 2 * kMaxOfPages);  // one part may keep blocks of two sizes
}

// A tree in which every inner task waits: far more stacks than there is memory for.
TEST(memory, tasks_that_await_a_child_without_a_stack_go_on) {
  for (janus_rt_config config : {with_workers(1), with_workers(4), deterministic(4, 1)})
    for (std::size_t memory : {std::size_t{1} << 20, std::size_t{4} << 20}) {
      config.memory = memory;
      run_in(config, [] {
        Scope scope(JANUS_ON_ERROR_COLLECT);
        for (int i = 0; i < scaled(30, 10); ++i) (void)spawn_detached(scope.get(), branch, as_arg(scaled(8, 6)));
        (void)scope.end();
        std::atomic<int> ran{0};
        Scope after;
        for (int i = 0; i < 100; ++i) after.go(count_up, &ran);
        CHECK_EQ(after.end(), 0);
        CHECK_EQ(ran.load(), 100);
      });
    }
}

}  // namespace janus::test
