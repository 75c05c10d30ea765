// SPDX-License-Identifier: Apache-2.0
// Task-local values that children inherit: which value a child begins with, for how long it is there, and what it costs.
#include "tests/api/world.h"

namespace janus::test {

namespace {

janus_local_key inherited_key(void (*destroy)(void*) = nullptr) {
  janus_local_key key = {};
  CHECK_EQ(janus_local_new_inherited(&key, destroy), 0);
  return key;
}

// A request: the value of a key, and what it should be.
struct Request {
  janus_local_key key;
  int number;
  void begin() { CHECK_EQ(janus_local_set(key, this), 0); }
  static Request* current(janus_local_key key) { return static_cast<Request*>(janus_local_get(key)); }
};

TEST(inherited, a_child_begins_with_the_value_that_its_spawner_has_then) {
  on_any_workers([] {
    const janus_local_key key = inherited_key();
    CHECK(janus_local_get(key) == nullptr);
    Request first{key, 1}, second{key, 2};
    const auto sees = [key](const Request* wanted) {
      return [key, wanted] {
        CHECK(Request::current(key) == wanted);
        Scope inner;
        auto grandchild = [&] { CHECK(Request::current(key) == wanted); };
        inner.go(grandchild);
        CHECK_EQ(inner.end(), 0);
      };
    };
    auto none = sees(nullptr), one = sees(&first), two = sees(&second);
    Scope scope;
    scope.go(none);
    first.begin();
    scope.go(one);  // the nursery was there before
    second.begin();
    scope.go(two);
    CHECK_EQ(janus_local_set(key, nullptr), 0);
    scope.go(none);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(janus_local_delete(key), 0);
  });
}

TEST(inherited, the_current_nursery_passes_it_on_too) {
  on_any_workers([] {
    static janus_local_key key;
    static Request request;
    static std::atomic<int> seen;
    key = inherited_key();
    request = {key, 1};
    seen.store(0);
    CHECK(janus_nursery_create() != nullptr);
    request.begin();
    const auto child = [](void*) -> std::int64_t {
      seen.fetch_add(Request::current(key) == &request ? 1 : 0);
      return 0;
    };
    for (int i = 0; i < 100; ++i) CHECK_EQ(janus_nursery_spawn(child, nullptr), 0);
    CHECK_EQ(janus_nursery_await_all(), 0);
    CHECK_EQ(seen.load(), 100);
    CHECK_EQ(janus_local_delete(key), 0);
  });
}

TEST(inherited, what_a_child_sets_is_its_own) {
  on_any_workers([] {
    static std::atomic<int> destroyed[4];
    for (auto& count : destroyed) count.store(0);
    const auto destroy = [](void* value) { destroyed[static_cast<Request*>(value)->number].fetch_add(1); };
    const janus_local_key key = inherited_key(destroy), other = inherited_key(destroy);
    Request mine{key, 1}, childs{key, 2}, both{other, 3};
    mine.begin();
    both.begin();
    auto child = [&] {
      childs.begin();
      CHECK(Request::current(key) == &childs);
      CHECK(Request::current(other) == &both);
      Scope inner;
      auto grandchild = [&] {
        CHECK(Request::current(key) == &childs);
        CHECK(Request::current(other) == &both);
      };
      inner.go(grandchild);
      CHECK_EQ(inner.end(), 0);
    };
    Scope scope;
    for (int i = 0; i < 3; ++i) scope.go(child);
    CHECK_EQ(scope.end(), 0);
    CHECK(destroyed[1].load() == 0 && destroyed[2].load() == 3 && destroyed[3].load() == 0);
    CHECK(Request::current(key) == &mine);
    CHECK_EQ(janus_local_delete(key), 0);
    CHECK_EQ(janus_local_delete(other), 0);
  });
}

// A value is there for as long as the nursery: so it is not that of a spawner who may end before.
TEST(inherited, in_a_nursery_above_a_child_begins_with_the_value_of_its_owner) {
  on_any_workers([] {
    const janus_local_key key = inherited_key();
    Request owners{key, 1};
    std::atomic<int> spawned{0}, seen{0};
    Scope scope;
    auto child = [&] { seen.fetch_add(Request::current(key) == &owners ? 1 : 0); };
    auto spawner = [&] {
      Request own{key, 2};
      own.begin();
      CHECK(scope.go(child).raw != 0);
      spawned.fetch_add(1);
    };
    owners.begin();
    for (int i = 0; i < 10; ++i) scope.go(spawner);
    while (spawned.load() < 10) janus_yield();
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(seen.load(), 10);
    CHECK_EQ(janus_local_delete(key), 0);
  });
}

TEST(inherited, both_halves_of_a_fork_have_it) {
  on_any_workers([] {
    const janus_local_key key = inherited_key();
    Request request{key, 1};
    request.begin();
    const auto half = [](void* wanted) -> std::int64_t {
      const auto* const its = static_cast<const Request*>(wanted);
      return Request::current(its->key) == its ? 0 : -1;
    };
    for (int i = 0; i < 100; ++i) {
      janus_result results[2] = {};
      CHECK_EQ(janus_fork_join(half, &request, half, &request, results), 0);
    }
    CHECK_EQ(janus_local_delete(key), 0);
  });
}

TEST(inherited, its_setter_destroys_it_when_its_nurseries_have_ended) {
  on_any_workers([] {
    static std::atomic<int> destroyed, alive;
    destroyed.store(0);
    alive.store(0);
    const janus_local_key key = inherited_key([](void*) {
      CHECK_EQ(alive.load(), 0);
      destroyed.fetch_add(1);
    });
    Request request{key, 1};
    auto grandchild = [&] {
      for (int i = 0; i < 10; ++i) janus_yield();
      CHECK(Request::current(key) == &request);
      alive.fetch_sub(1);
    };
    auto setter = [&] {
      request.begin();
      janus_nursery* const left_open = janus_nursery_open(nullptr, nullptr);
      for (int i = 0; i < 3; ++i) {
        alive.fetch_add(1);
        CHECK(janus_nursery_spawn_in(left_open, call_closure<decltype(grandchild)>, &grandchild, nullptr).raw != 0);
      }
    };
    Scope scope;
    scope.go(setter);
    (void)scope.end();
    CHECK_EQ(destroyed.load(), 1);
    CHECK_EQ(janus_local_delete(key), 0);
  });
}

TEST(inherited, a_task_that_is_ended_by_force_destroys_none) {
  run_in(with_workers(1), [] {
    static int destroyed;
    destroyed = 0;
    const janus_local_key key = inherited_key([](void*) { ++destroyed; });
    auto panics = [&] {
      CHECK_EQ(janus_local_set(key, &destroyed), 0);
      janus_task_panic("with a value");
    };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    scope.go(panics);
    (void)scope.end();
    CHECK_EQ(destroyed, 0);
    CHECK_EQ(janus_local_delete(key), 0);
  });
}

// A server: it sets the value before each spawn, in a nursery that stays open.
TEST(inherited, each_of_many_requests_has_its_own_and_nothing_is_left) {
  on_any_workers([] {
    const janus_local_key key = inherited_key();
    const int count = static_cast<int>(scaled(10'000, 300));
    Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(100'000'000, 64 << 20));
    auto server = [&] {
      static Request requests[10'000];
      static std::atomic<int> right;
      right.store(0);
      const std::size_t before = janus_budget_get_current().memory;
      Scope scope;
      const auto handler = [](void* wanted) -> std::int64_t {
        const auto* const its = static_cast<const Request*>(wanted);
        janus_yield();
        right.fetch_add(Request::current(its->key) == its ? 1 : 0);
        return 0;
      };
      for (int i = 0; i < count; ++i) {
        requests[i] = {key, i};
        requests[i].begin();
        CHECK(scope.go(handler, &requests[i]).raw != 0);
      }
      CHECK_EQ(scope.end(), 0);
      CHECK_EQ(right.load(), count);
      CHECK_GE(janus_budget_get_current().memory + 65536, before);
    };
    cage.go(server);
    CHECK_EQ(cage.end(), 0);
    CHECK_EQ(janus_local_delete(key), 0);
  });
}

TEST(inherited, children_that_never_start_keep_nothing) {
  on_any_workers([] {
    const janus_local_key key = inherited_key();
    Request request{key, 1};
    Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(100'000'000, 64 << 20));
    auto spawner = [&] {
      const std::size_t before = janus_budget_get_current().memory;
      for (int i = 0; i < 100; ++i) {
        Scope scope;
        auto child = [] { return janus_park(-1); };
        for (int j = 0; j < 40; ++j) {
          request.begin();
          scope.go(child);
        }
        CHECK_EQ(scope.cancel(), 0);
        (void)scope.end();
      }
      CHECK_GE(janus_budget_get_current().memory + 65536, before);
    };
    cage.go(spawner);
    (void)cage.end();
    CHECK_EQ(janus_local_delete(key), 0);
  });
}

TEST(inherited, a_task_has_at_most_32_and_a_key_that_was_deleted_is_none) {
  run_in(with_workers(1), [] {
    janus_local_key keys[33];
    for (janus_local_key& key : keys) key = inherited_key();
    int value = 0;
    for (int i = 0; i < 32; ++i) CHECK_EQ(janus_local_set(keys[i], &value), 0);
    CHECK_EQ(janus_local_set(keys[32], &value), JANUS_E_NO_MEMORY);
    auto child = [&] {
      CHECK(janus_local_get(keys[31]) == &value);
      CHECK_EQ(janus_local_set(keys[32], &value), JANUS_E_NO_MEMORY);
      CHECK_EQ(janus_local_set(keys[31], nullptr), 0);
      CHECK_EQ(janus_local_delete(keys[0]), 0);
      CHECK(janus_local_get(keys[0]) == nullptr);
      CHECK_EQ(janus_local_set(keys[0], &value), JANUS_E_INVALID);
      CHECK_EQ(janus_local_set(keys[32], &value), 0);
    };
    Scope scope;
    scope.go(child);
    CHECK_EQ(scope.end(), 0);
    CHECK(janus_local_get(keys[0]) == nullptr);
    CHECK(janus_local_get(keys[31]) == &value);
    for (int i = 1; i < 33; ++i) CHECK_EQ(janus_local_delete(keys[i]), 0);
  });
}

TEST(inherited, a_cage_and_a_token_change_nothing) {
  on_any_workers([] {
    const janus_local_key key = inherited_key();
    Request request{key, 1}, own{key, 2};
    request.begin();
    auto child = [&] {
      CHECK(Request::current(key) == &request);
      own.begin();
      CHECK(Request::current(key) == &own);
    };
    for (const bool has_token : {false, true}) {
      janus_nursery_options options = {};
      options.size = sizeof options;
      options.budget = budget_of(100'000);
      const janus_cap token = has_token ? janus_cap_derive(janus_cap_root(nullptr), JANUS_CAP_SPAWN, {}) : janus_cap{};
      options.cap = token;
      janus_nursery* const nursery = janus_nursery_open(nullptr, &options);
      CHECK(nursery != nullptr);
      janus_spawn_options how = {};
      how.size = sizeof how;
      how.cap = token;
      CHECK(janus_nursery_spawn_in(nursery, call_closure<decltype(child)>, &child, &how).raw != 0);
      CHECK_EQ(end(nursery), 0);
      if (has_token) CHECK_EQ(janus_cap_revoke(token), 0);
    }
    CHECK_EQ(janus_local_delete(key), 0);
  });
}

TEST(inherited, a_value_that_its_cage_cannot_pay_for_is_not_set) {
  run_in(with_workers(1), [] {
    const janus_local_key key = inherited_key();
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget_of(1'000'000, 256 << 10));
    auto child = [&] {
      while (janus_alloc(64) != nullptr) {
      }
      while (janus_alloc(8) != nullptr) {
      }
      CHECK_EQ(janus_local_set(key, &cage), JANUS_E_BUDGET);
      CHECK(janus_local_get(key) == nullptr);
    };
    cage.go(child);
    (void)cage.end();
    CHECK_EQ(janus_local_delete(key), 0);
  });
}

}  // namespace

}  // namespace janus::test
