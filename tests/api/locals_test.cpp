// SPDX-License-Identifier: Apache-2.0
// Task-local keys: how many there are, and who may have them.
#include "tests/api/world.h"
#include "tests/harness/bounded_list.h"

namespace janus::test {

namespace {

using Keys = BoundedList<janus_local_key, 8192>;

TEST(locals, keys_are_many_and_a_later_key_is_not_taken_for_an_earlier_one) {
  run_in(with_workers(1), [] {
    static Keys keys;
    janus_local_key key = {};
    while (janus_local_new(&key, nullptr) == 0) keys.add(key);
    CHECK_GE(keys.size(), 1000u);
    int value = 0;
    CHECK_EQ(janus_local_set(keys.last(), &value), 0);
    CHECK(janus_local_get(keys.last()) == &value);
    CHECK_EQ(janus_local_delete(keys.last()), 0);
    CHECK(janus_local_get(keys.last()) == nullptr);
    CHECK_EQ(janus_local_delete(keys.last()), JANUS_E_INVALID);
    CHECK_EQ(janus_local_new(&key, nullptr), 0);
    CHECK(key.raw != keys.last().raw);
    CHECK(janus_local_get(key) == nullptr);
    keys.last() = key;
    for (const janus_local_key each : keys) CHECK_EQ(janus_local_delete(each), 0);
  });
}

// A cage may take another key while it has less than an eighth of what is left of 512 keys (docs/decisions/0243).
constexpr std::size_t kKeysOfACage = 57;

TEST(locals, the_keys_of_a_budget_end_with_it) {
  run_in(with_workers(1), [] {
    static std::atomic<int> destroyed;
    destroyed.store(0);
    const auto destroy = [](void*) { destroyed.fetch_add(1); };
    const std::size_t before = janus_budget_get_current().memory;
    int value = 0;
    for (const bool is_the_tasks : {false, true}) {
      Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY,
                 is_the_tasks ? janus_budget{} : budget_of(1'000'000));
      janus_local_key key = {};
      std::size_t made = 0;
      std::atomic<bool> may_end{false};
      auto child = [&] {
        CHECK_EQ(janus_local_new(&key, destroy), 0);
        CHECK_EQ(janus_local_set(key, &value), 0);
        janus_local_key other = {};
        for (made = 1; janus_local_new(&other, nullptr) == 0;) ++made;
        while (!may_end.load()) janus_yield();
        return 0;
      };
      const janus_task task = cage.go(child, 0, is_the_tasks ? budget_of(1'000'000) : janus_budget{});
      CHECK(eventually([&] { return made >= kKeysOfACage; }));
      // A task outside the cage keeps its value while the key exists; no destructor is called for it.
      CHECK_EQ(janus_local_set(key, &value), 0);
      may_end.store(true);
      CHECK_EQ(janus_task_join(task, nullptr), 0);
      CHECK_EQ(janus_task_release(task), 0);
      CHECK_EQ(cage.end(), 0);
      CHECK_EQ(made, kKeysOfACage);
      CHECK(janus_local_get(key) == nullptr);
      CHECK_EQ(janus_local_set(key, &value), JANUS_E_INVALID);
      CHECK_EQ(destroyed.load(), is_the_tasks ? 2 : 1);
    }
    // All memory has come back, except the root's own table of values.
    CHECK_GE(janus_budget_get_current().memory + 65536, before);
  });
}

TEST(locals, values_that_destructors_set_are_destroyed_too_in_four_rounds) {
  run_in(with_workers(1), [] {
    static janus_local_key key;
    static int destroyed;
    destroyed = 0;
    const auto destroy_and_set = [](void* value) {
      ++destroyed;
      CHECK_EQ(janus_local_set(key, value), 0);
    };
    CHECK_EQ(janus_local_new(&key, destroy_and_set), 0);
    auto sets = [] { return janus_local_set(key, &destroyed); };
    Scope scope;
    scope.go(sets);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(destroyed, 4);
    CHECK_EQ(janus_local_delete(key), 0);
  });
}

TEST(locals, no_key_comes_twice) {
  if (scaled(1, 0) == 0) SKIP("it takes four million keys");
  run_in(with_workers(1), [] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget_of(40'000'000));
    auto child = [] {
      janus_local_key first = {}, key = {};
      CHECK_EQ(janus_local_new(&first, nullptr), 0);
      CHECK_EQ(janus_local_delete(first), 0);
      for (int i = 0; i < 4'200'000; ++i) {
        if (!CHECK_EQ(janus_local_new(&key, nullptr), 0) || !CHECK_NE(key.raw, first.raw)) return -1;
        CHECK_EQ(janus_local_delete(key), 0);
      }
      return 0;
    };
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
  });
}

TEST(locals, a_main_that_pays_gets_no_key_when_all_are_taken) {
  static Keys taken;
  run_in(with_workers(1), [] {
    janus_local_key key = {};
    while (janus_local_new(&key, nullptr) == 0) taken.add(key);
  });
  CHECK_GE(taken.size(), 1000u);
  janus_rt_config pays = with_workers(1);
  pays.root_budget = budget_of(1'000'000);
  run_in(pays, [] {
    janus_local_key key = {};
    CHECK_EQ(janus_local_new(&key, nullptr), JANUS_E_NO_MEMORY);
  });
  run_in(with_workers(1), [] {
    for (const janus_local_key each : taken) CHECK_EQ(janus_local_delete(each), 0);
  });
}

TEST(locals, a_cage_takes_no_more_than_an_eighth_of_the_keys_that_are_left) {
  run_in(with_workers(1), [] {
    static Keys taken;
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget_of(1'000'000));
    auto child = [&] {
      janus_local_key key = {};
      while (janus_local_new(&key, nullptr) == 0) taken.add(key);
      return 0;
    };
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
    CHECK_EQ(taken.size(), kKeysOfACage);
    janus_local_key mine = {};
    CHECK_EQ(janus_local_new(&mine, nullptr), 0);
    CHECK_EQ(janus_local_delete(mine), 0);
    for (const janus_local_key each : taken) CHECK_EQ(janus_local_delete(each), JANUS_E_INVALID);
  });
}

}  // namespace

}  // namespace janus::test
