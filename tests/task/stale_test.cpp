// SPDX-License-Identifier: Apache-2.0
// stale_test.cpp — uses of pointers and handles of freed objects: each use gets an error, however often it is repeated,
// and nothing is freed twice.
#include "rt/abi/entry/entry.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/record/channel.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/children.h"
#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr unsigned kWorlds[] = {1, 2, 4};

}  // namespace

TEST(stale, more_releases_than_references_free_a_channel_once) {
  for (const unsigned workers : kWorlds)
    run_in(with_workers(workers), [] {
      constexpr int kReferences = 5, kReleases = 2 * kReferences;
      for (int round = 0; round < scaled(200, 40); ++round) {
        const std::uint64_t in_use = stats_of().bytes_in_use;
        janus_channel* const channel = janus_channel_create(64, 100);
        for (int n = 1; n < kReferences; ++n) CHECK(janus_channel_retain(channel) == channel);
        std::atomic<int> arrived{0}, stale{0};
        auto release = [&] {
          arrived.fetch_add(1);
          while (arrived.load() < kReleases) janus_yield();
          janus_channel_release(channel);
          if (janus_last_error() == JANUS_E_STALE) stale.fetch_add(1);
        };
        Scope scope;
        for (int n = 0; n < kReleases; ++n) scope.go(release);
        CHECK_EQ(scope.end(), 0);
        CHECK_EQ(stale.load(), kReleases - kReferences);
        CHECK_EQ(stats_of().bytes_in_use, in_use);
        CHECK_EQ(janus_channel_close(channel), JANUS_E_STALE);
        CHECK(janus_channel_retain(channel) == nullptr);
        CHECK_EQ(janus_last_error(), JANUS_E_STALE);
      }
    });
}

TEST(stale, a_waiter_is_told_by_the_last_release_and_by_no_later_one) {
  for (const unsigned workers : kWorlds)
    run_in(with_workers(workers), [] {
      janus_channel* const channel = janus_channel_create(8, 0);
      auto receive = [&] {
        long value = 0;
        return static_cast<std::int64_t>(janus_channel_recv(channel, &value));
      };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      const janus_task waiter = scope.go(receive);
      while (janus_task_state(waiter) != JANUS_TASK_BLOCKED) janus_yield();
      for (int n = 0; n < 3; ++n) janus_channel_release(channel);
      std::int64_t told = 0;
      CHECK_EQ(janus_task_join(waiter, &told), 0);
      CHECK_EQ(told, JANUS_E_CLOSED);
      (void)scope.end();
    });
}

TEST(stale, references_end_before_they_wrap) {
  run_in(with_workers(1), [] {
    janus_channel* const channel = janus_channel_create(8, 1);
    const std::uint32_t index = index_of_handle(reinterpret_cast<std::uintptr_t>(channel));
    Slab& channels = runtime_of(current_worker()).channels;
    std::atomic<std::uint64_t>& life = static_cast<Channel*>(channels.at(index))->life;
    const std::uint64_t one = life.load();
    life.store(one + Channel::kMaxReferences - 2);
    CHECK(janus_channel_retain(channel) == channel);
    CHECK(janus_channel_retain(channel) == nullptr);
    CHECK_EQ(janus_last_error(), JANUS_E_STATE);
    life.store(one);
    janus_channel_release(channel);
    CHECK_EQ(janus_channel_close(channel), JANUS_E_STALE);
  });
}

TEST(stale, a_root_that_gives_up_its_own_handle_keeps_its_result) {
  for (const unsigned workers : kWorlds) {
    CHECK_EQ(run_in(with_workers(workers), [] { return janus_task_release(janus_task_self()) == 0 ? 42 : -5; }), 42);
    // The handle is released by a child, while the root waits for it.
    const long result = run_in(with_workers(workers), [] {
      const janus_task root = janus_task_self();
      auto release = [&] { return static_cast<std::int64_t>(janus_task_release(root)); };
      Scope scope;
      scope.go(release);
      return scope.end() == 0 ? 43 : -5;
    });
    CHECK_EQ(result, 43);
  }
  const auto panics = [] {
    janus_task_release(janus_task_self());
    janus_task_panic("with no handle to itself");
  };
  CHECK_EQ(run_in(with_workers(2), panics), JANUS_PANIC);
}

// The owner may free a nursery without an atomic operation only while no other thread uses it, so these are counted.
TEST(stale, a_visitor_of_a_nursery_is_counted) {
  run_in(with_workers(1), [] {
    Scope scope;
    Worker& worker = current_worker();
    auto* const nursery = static_cast<Nursery*>(worker.runtime->nurseries.at(index_of_handle(word_of(scope.get()))));
    REQUIRE(nursery != nullptr);
    {
      const NurseryRef owner(&worker, *nursery);
      CHECK(owner.is_valid());
      CHECK_EQ(nursery->external_refs.load(), 0u);
      const NurseryRef other(nullptr, *nursery);
      CHECK(other.is_valid());
      CHECK_EQ(nursery->external_refs.load(), 1u);
    }
    CHECK_EQ(nursery->external_refs.load(), 0u);
    CHECK_EQ(scope.end(), 0);
    const NurseryRef late(nullptr, *nursery);  // the record is still mapped for late visitors
    CHECK(!late.is_valid());
    CHECK_EQ(nursery->external_refs.load(), 0u);
  });
}

}  // namespace janus::test
