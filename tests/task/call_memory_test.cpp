// SPDX-License-Identifier: Apache-2.0
// call_memory_test.cpp — each call with each of its pointers bad, in every way that a pointer can be bad. The calling
// task panics, the call has taken nothing, and all other tasks go on. On 1, 2 and 4 workers, with other tasks at work.
#include <iterator>

#include "rt/abi/entry/entry.h"
#include "tests/task/bad_memory.h"

// One of the calls passes a format that is not a literal on purpose.
#pragma GCC diagnostic ignored "-Wformat-security"

namespace janus::test {

namespace {

// What is left in each component of the root's account.
struct Accounts5 {
  std::uint64_t left[kComponents];
};

Accounts5 root_accounts() {
  Runtime& runtime = runtime_of(current_worker());
  Accounts5 sums;
  for (unsigned c = 0; c < kComponents; ++c)
    sums.left[c] = runtime.accounts.left(runtime.root_account, static_cast<Component>(c));
  return sums;
}

std::int64_t nothing(void*) {
  return 0;
}

// A call, and the pointer to try it with.
struct Call {
  const char* what;
  bool writes;
  std::size_t bytes;  // that the pointer should refer to
  void (*call)(void* pointer);
};

janus_nursery_options nursery_options() {
  janus_nursery_options options = {};
  options.size = sizeof options;
  options.budget = {100, 65536, 3, 4, 5};
  return options;
}

// All calls that take pointers. Valid arguments are created by each task and left to be freed at its end.
constexpr Call kCalls[] = {
    {"open: options", false, sizeof(janus_nursery_options),
     [](void* bad) { janus_nursery_open(nullptr, static_cast<janus_nursery_options*>(bad)); }},
    {"open: name", false, 31,
     [](void* bad) {
       janus_nursery_options options = nursery_options();
       options.name = static_cast<const char*>(bad);
       janus_nursery_open(nullptr, &options);
     }},
    {"spawn_in: options", false, sizeof(janus_spawn_options),
     [](void* bad) {
       janus_nursery* const nursery = janus_nursery_open(nullptr, nullptr);
       (void)janus_nursery_spawn_in(nursery, nothing, nullptr, static_cast<janus_spawn_options*>(bad));
     }},
    {"spawn_in: name", false, 31,
     [](void* bad) {
       janus_nursery_options mine = nursery_options();
       janus_nursery* const nursery = janus_nursery_open(nullptr, &mine);
       janus_spawn_options options = {};
       options.name = static_cast<const char*>(bad);
       options.budget = {10, 32768, 0, 0, 0};
       (void)janus_nursery_spawn_in(nursery, nothing, nullptr, &options);
     }},
    {"spawn_in: nursery", false, 4,
     [](void* bad) { (void)janus_nursery_spawn_in(static_cast<janus_nursery*>(bad), nothing, nullptr, nullptr); }},
    {"close", false, 4, [](void* bad) { (void)janus_nursery_close(static_cast<janus_nursery*>(bad)); }},
    {"cancel", false, 4, [](void* bad) { (void)janus_nursery_cancel(static_cast<janus_nursery*>(bad)); }},
    {"state", false, 4, [](void* bad) { (void)janus_nursery_state(static_cast<janus_nursery*>(bad)); }},
    {"await", false, 4, [](void* bad) { (void)janus_nursery_await(static_cast<janus_nursery*>(bad), nullptr); }},
    {"destroy", false, 4, [](void* bad) { (void)janus_nursery_destroy(static_cast<janus_nursery*>(bad)); }},
    {"recharge", false, 4, [](void* bad) { (void)janus_nursery_recharge(static_cast<janus_nursery*>(bad), {}); }},
    {"usage", false, 4, [](void* bad) { (void)janus_nursery_usage(static_cast<janus_nursery*>(bad), nullptr); }},
    {"withdraw", false, 4, [](void* bad) { (void)janus_nursery_withdraw(static_cast<janus_nursery*>(bad), nullptr); }},
    {"pause", false, 4, [](void* bad) { (void)janus_nursery_pause(static_cast<janus_nursery*>(bad)); }},
    {"resume", false, 4, [](void* bad) { (void)janus_nursery_resume(static_cast<janus_nursery*>(bad)); }},
    {"keep", false, 4, [](void* bad) { (void)janus_nursery_keep(static_cast<janus_nursery*>(bad), nullptr, nullptr); }},
    {"grant64", false, 4, [](void* bad) { (void)janus_budget_grant64(static_cast<janus_nursery*>(bad), 0, 1); }},
    {"try_result: nursery", false, 4,
     [](void* bad) { (void)janus_nursery_try_result(static_cast<janus_nursery*>(bad), nullptr); }},
    {"try_result: pending result", true, sizeof(janus_result),
     [](void* bad) {
       (void)janus_nursery_try_result(janus_nursery_open(nullptr, nullptr), static_cast<janus_result*>(bad));
     }},
    {"try_result: result", true, sizeof(janus_result),
     [](void* bad) {
       janus_nursery* const nursery = janus_nursery_open(nullptr, nullptr);
       (void)janus_nursery_await(nursery, nullptr);
       (void)janus_nursery_try_result(nursery, static_cast<janus_result*>(bad));
     }},
    {"await: result", true, sizeof(janus_result),
     [](void* bad) {
       janus_nursery* const nursery = janus_nursery_open(nullptr, nullptr);
       (void)janus_nursery_spawn_in(nursery, nothing, nullptr, nullptr);
       (void)janus_nursery_await(nursery, static_cast<janus_result*>(bad));
     }},
    {"join: result", true, sizeof(std::int64_t),
     [](void* bad) {
       janus_nursery* const nursery = janus_nursery_open(nullptr, nullptr);
       const janus_task task = janus_nursery_spawn_in(nursery, nothing, nullptr, nullptr);
       (void)janus_task_join(task, static_cast<std::int64_t*>(bad));
     }},
    {"join: result of one that has ended", true, sizeof(std::int64_t),
     [](void* bad) {
       janus_nursery* const nursery = janus_nursery_open(nullptr, nullptr);
       const janus_task task = janus_nursery_spawn_in(nursery, nothing, nullptr, nullptr);
       (void)janus_nursery_await(nursery, nullptr);
       (void)janus_task_join(task, static_cast<std::int64_t*>(bad));
     }},
    {"task_result: result", true, sizeof(janus_result),
     [](void* bad) { (void)janus_task_result(janus_task_self(), static_cast<janus_result*>(bad)); }},
    {"set_name", false, 31, [](void* bad) { (void)janus_task_set_name(static_cast<const char*>(bad)); }},
    {"task_panic", false, 32, [](void* bad) { janus_task_panic(static_cast<const char*>(bad)); }},
    {"local_new: key", true, sizeof(janus_local_key),
     [](void* bad) { (void)janus_local_new(static_cast<janus_local_key*>(bad), nullptr); }},
    {"write", false, 5000, [](void* bad) { (void)janus_write(2, bad, 5000); }},
    {"print: format", false, 20, [](void* bad) { (void)janus_print(2, static_cast<const char*>(bad)); }},
    {"print: a string", false, 20, [](void* bad) { (void)janus_print(2, "%d %s", 1, static_cast<const char*>(bad)); }},
    {"print: a string of so much", false, 20,
     [](void* bad) { (void)janus_print(2, "%.20s", static_cast<const char*>(bad)); }},
    {"entropy", true, 5000, [](void* bad) { (void)janus_entropy(bad, 5000); }},
    {"stats", true, sizeof(janus_stats), [](void* bad) { janus_rt_stats(nullptr, static_cast<janus_stats*>(bad)); }},
};

// Where the object straddles the end of the mapping: fills the readable part with text without a terminator, or with a
// `size` field that reaches beyond the end. The call then reads up to the unusable page.
void fill_before_wall(const Call& call, Bad kind, void* bad) {
  if (kind != Bad::kStraddling) return;
  auto* const bytes = static_cast<unsigned char*>(bad);
  for (std::size_t i = 0; i + 1 < call.bytes; ++i) bytes[i] = call.writes ? 0 : 'x';
  const std::uint32_t size = 4096;
  if (call.bytes > 31 && call.bytes < 5000) __builtin_memcpy(bytes, &size, sizeof size);
}

bool is_tried(const Call& call, Bad kind) {
  return kind != Bad::kReadOnly || call.writes;
}

// Tasks that use a channel, spawn and join all the time. They would stop if a lock stayed held or a worker were lost.
class Neighbours {
 public:
  Neighbours() {
    for (auto& round : rounds_) scope_.go(work, &round);
  }
  // Waits until each neighbour has done three more rounds.
  bool get_on() {
    return eventually([&] {
             for (auto& round : rounds_) {
               if (round.count.load() < round.seen + 3) return false;
             }
             return true;
           }) &&
           note();
  }
  long end() {
    for (auto& round : rounds_) round.ends.store(true);
    return scope_.end();
  }

 private:
  struct Round {
    std::atomic<int> count{0};
    std::atomic<bool> ends{false};
    int seen = 0;
  };
  static std::int64_t work(void* arg) {
    auto& round = *static_cast<Round*>(arg);
    janus_channel* const channel = janus_channel_create(8, 1);
    while (!round.ends.load()) {
      long value = 1;
      if (janus_channel_send(channel, &value) != 0 || janus_channel_recv(channel, &value) != 0) return -5;
      Scope scope;
      janus_spawn_options options = {};
      options.name = "a neighbour's child";
      const janus_task task = janus_nursery_spawn_in(scope.get(), nothing, nullptr, &options);
      std::int64_t result = 1;
      if (janus_task_join(task, &result) != 0 || result != 0 || scope.end() != 0) return -6;
      round.count.fetch_add(1);
      janus_yield();
    }
    janus_channel_release(channel);
    return 0;
  }
  bool note() {
    for (auto& round : rounds_) round.seen = round.count.load();
    return true;
  }

  Round rounds_[3];
  Scope scope_;
};

void try_everything() {
  for (const Call& call : kCalls) {
    for (const Bad kind : kUnwritable) {
      if (!is_tried(call, kind)) continue;
      void* const bad = BadMemory::pointer(kind, call.bytes);
      fill_before_wall(call, kind, bad);
      const bool panicked = panics([&] { call.call(bad); });
      if (!CHECK(panicked)) {
        test::note("call", call.what);
        test::note("kind", static_cast<std::uint64_t>(kind));
      }
    }
  }
}

}  // namespace

TEST(call_memory, a_bad_pointer_in_any_call_is_the_callers_panic_and_nobody_elses) {
  for (const unsigned workers : kWorkerCounts) {
    run_both_ways(workers, [] {
      Neighbours neighbours;
      try_everything();
      CHECK(neighbours.get_on());
      CHECK_EQ(neighbours.end(), 0);
    });
  }
}

// Repeats all calls: a resource that a panicking call kept would be missing afterwards.
TEST(call_memory, a_call_that_panics_has_taken_nothing) {
  for (const unsigned workers : kWorkerCounts) {
    janus_stats stats = {};
    run_in(
        with_workers(workers),
        [] {
          Scope outer;
          try_everything();  // allocates what is made at the first use
          try_everything();
          const Accounts5 before = root_accounts();
          const std::uint64_t in_use = stats_of().bytes_in_use;
          for (int i = 0; i < scaled(10, 2); ++i) try_everything();
          const Accounts5 after = root_accounts();
          for (unsigned c = 0; c < kComponents; ++c) {
            // Workers cache chunks of memory, and slabs keep free records.
            const std::uint64_t missing = before.left[c] > after.left[c] ? before.left[c] - after.left[c] : 0;
            CHECK_LT(missing, c == static_cast<unsigned>(Component::kMemory) ? 1u << 20 : 1u);
          }
          CHECK_LE(stats_of().bytes_in_use, in_use + 65536);
          CHECK_EQ(outer.end(), 0);
        },
        &stats);
    CHECK_EQ(stats.tasks_live, 0u);
    CHECK_EQ(stats.nurseries_live, 0u);
  }
}

// An open or a spawn reads all its arguments before it draws anything from a budget.
TEST(call_memory, an_open_or_a_spawn_with_a_bad_name_leaves_the_budget_as_it_was) {
  for (const unsigned workers : kWorkerCounts) {
    run_in(with_workers(workers), [] {
      for (const Bad kind : kUnreadable) {
        auto* const bad = static_cast<char*>(BadMemory::pointer(kind, 31));
        if (kind == Bad::kStraddling) __builtin_memset(bad, 'x', 30);
        Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, {UINT32_MAX - 1, 8u << 20, 1000, 0, 0});
        std::uint64_t before = 0, after = 0;
        janus_nursery* const nursery = scope.get();
        auto open = [&] {
          janus_nursery_options options = nursery_options();
          options.budget.memory = 1u << 20;
          options.name = bad;
          janus_nursery_open(nullptr, &options);
        };
        auto spawn = [&] {
          janus_spawn_options options = {};
          options.name = bad;
          (void)janus_nursery_spawn_in(nursery, nothing, nullptr, &options);
        };
        auto rounds = [&] {
          janus_nursery_options options = {};
          options.on_error = JANUS_ON_ERROR_COLLECT;
          for (int i = 0; i < 20; ++i) {
            if (i == 2) before = janus_budget_get_current().memory;
            janus_nursery* const inner = janus_nursery_open(nullptr, &options);
            (void)janus_nursery_spawn_in(inner, call_closure<decltype(open)>, &open, nullptr);
            (void)janus_nursery_spawn_in(inner, call_closure<decltype(spawn)>, &spawn, nullptr);
            if (janus_nursery_await(inner, nullptr) != JANUS_PANIC) return -5;
            (void)janus_nursery_destroy(inner);
          }
          after = janus_budget_get_current().memory;
          return 0;
        };
        scope.go(rounds);
        CHECK_EQ(scope.end(), 0);
        CHECK_EQ(after, before);
      }
    });
  }
}

TEST(call_memory, a_struct_is_not_read_beyond_its_size_field) {
  run_in(with_workers(1), [] {
    // Only the `size` field of the options is readable; the rest lies on the unusable page.
    auto* const size = static_cast<std::uint32_t*>(BadMemory::pointer(Bad::kStraddling, 5));
    *size = 4;
    CHECK(janus_nursery_open(nullptr, reinterpret_cast<janus_nursery_options*>(size)) == nullptr);
    CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
    Scope scope;
    const auto* const options = reinterpret_cast<janus_spawn_options*>(size);
    CHECK_EQ(janus_nursery_spawn_in(scope.get(), nothing, nullptr, options).raw, 0u);
    CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(call_memory, names_and_strings_may_end_right_before_the_wall) {
  run_in(with_workers(1), [] {
    auto* const name = static_cast<char*>(BadMemory::pointer(Bad::kStraddling, 7));
    __builtin_memcpy(name, "inner", 6);
    CHECK_EQ(janus_task_set_name(name), 0);
    janus_nursery_options options = {};
    options.name = name;
    janus_nursery* const nursery = janus_nursery_open(nullptr, &options);
    CHECK(nursery != nullptr);
    CHECK_EQ(janus_nursery_await(nursery, nullptr), 0);
    CHECK_EQ(janus_nursery_destroy(nursery), 0);
    CHECK_EQ(janus_print(2, "# %s %.5s\n", name, name), 0);
    CHECK_EQ(janus_write(2, name, 5), 0);
    CHECK_EQ(janus_write(2, "\n", 1), 0);
  });
}

// Any pointer may be passed as a runtime; only a registered runtime is accessed.
TEST(call_memory, a_pointer_to_no_runtime_gives_no_statistics) {
  run_in(with_workers(1), [] {
    for (const Bad kind : kUnreadable) {
      auto* const bad = static_cast<janus_rt*>(BadMemory::pointer(kind, 8));
      const auto ask = [&] {
        janus_stats stats = {};
        stats.size = sizeof stats;
        stats.workers = 77;
        janus_rt_stats(bad, &stats);
        return static_cast<std::int64_t>(stats.workers);
      };
      CHECK_EQ(outcome_of(ask).code, 77);
      const auto open = [&] { return janus_nursery_open(bad, nullptr) == nullptr ? 5 : 6; };
      CHECK_EQ(outcome_of(open).code, 5);
    }
  });
}

}  // namespace janus::test
