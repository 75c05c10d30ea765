// SPDX-License-Identifier: Apache-2.0
// watch_test.cpp — janus_task_watch: what is sent when a watched task ends, and when nothing is.
#include "tests/api/world.h"

namespace janus::test {

namespace {

// A channel of results.
class Results {
 public:
  explicit Results(std::size_t capacity) : channel_(janus_channel_create(sizeof(janus_result), capacity)) {
    CHECK(channel_ != nullptr);
  }
  ~Results() { janus_channel_release(channel_); }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  [[nodiscard]] janus_channel* get() const { return channel_; }
  [[nodiscard]] janus_result take() const {
    janus_result result{};
    CHECK_EQ(janus_channel_recv(channel_, &result), 0);
    return result;
  }
  [[nodiscard]] bool is_empty() const {
    janus_result result{};
    return janus_channel_try_recv(channel_, &result) == JANUS_E_WOULD_BLOCK;
  }

 private:
  janus_channel* channel_;
};

bool is_same(const janus_result& one, const janus_result& other) {
  return one.kind == other.kind && one.errors == other.errors && one.code == other.code &&
         one.task_id == other.task_id && one.was_cancelled == other.was_cancelled && one.cause == other.cause;
}

std::int64_t yield_and_return(void* value) {
  janus_yield();
  return return_arg(value);
}
std::int64_t panic(void*) {
  janus_task_panic("as ordered");
}

}  // namespace

TEST(watch, each_end_is_told_as_the_result_tells_it) {
  on_any_workers([] {
    const Results results(8);
    Scope scope(JANUS_ON_ERROR_COLLECT);
    const janus_task tasks[] = {scope.go(yield_and_return, as_arg(5)), scope.go(yield_and_return, as_arg(-7)),
                                scope.go(panic, nullptr), scope.go(park_until_cancelled, nullptr)};
    for (const janus_task task : tasks) CHECK_EQ(janus_task_watch(task, results.get()), 0);
    CHECK_EQ(janus_task_cancel(tasks[3]), 0);
    scope.await();
    unsigned kinds = 0;
    for (int i = 0; i < 4; ++i) {
      const janus_result told = results.take();
      kinds |= 1u << told.kind;
      bool is_known = false;
      for (const janus_task task : tasks) {
        janus_result result{};
        CHECK_EQ(janus_task_result(task, &result), 0);
        is_known = is_known || is_same(result, told);
      }
      CHECK(is_known);
    }
    CHECK_EQ(kinds, 1u << JANUS_KIND_SUCCESS | 1u << JANUS_KIND_CHILD_FAILED | 1u << JANUS_KIND_PANIC |
                        1u << JANUS_KIND_CANCELLED);
    CHECK(results.is_empty());
    scope.end();
  });
}

TEST(watch, one_that_has_ended_is_told_at_once) {
  on_any_workers([] {
    const Results results(1);
    Scope scope(JANUS_ON_ERROR_COLLECT);
    const janus_task task = scope.go(return_arg, as_arg(3));
    CHECK_EQ(janus_task_join(task, nullptr), 0);
    CHECK_EQ(janus_task_watch(task, results.get()), 0);
    CHECK_EQ(janus_task_watch(task, results.get()), JANUS_E_WOULD_BLOCK);  // there is no room
    CHECK_EQ(results.take().code, 3);
    CHECK_EQ(janus_channel_close(results.get()), 0);
    CHECK_EQ(janus_task_watch(task, results.get()), JANUS_E_CLOSED);
    CHECK_EQ(janus_task_release(task), 0);
    CHECK_EQ(janus_task_watch(task, results.get()), JANUS_E_STALE);
    scope.end();
  });
}

TEST(watch, a_receiver_that_waits_is_handed_the_message_before_the_nursery_ends) {
  on_any_workers([] {
    const Results results(0);
    Scope receivers, scope;
    static std::atomic<std::uint64_t> got;
    got = 0;
    auto receive = [&] {
      got.store(results.take().task_id);
      return 0;
    };
    const janus_task receiver = receivers.go(receive);
    CHECK(eventually([&] { return janus_task_state(receiver) == JANUS_TASK_BLOCKED; }));
    const janus_task task = scope.go(park_until_cancelled, nullptr);
    CHECK_EQ(janus_task_watch(task, results.get()), 0);
    CHECK_EQ(janus_unpark(task), 0);
    CHECK_EQ(scope.await(), 0);
    janus_result result{};
    CHECK_EQ(janus_task_result(task, &result), 0);
    CHECK_EQ(receivers.end(), 0);
    CHECK_EQ(got.load(), result.task_id);
    scope.end();
  });
}

TEST(watch, watchers_are_told_in_order_and_each_once) {
  on_any_workers([] {
    constexpr int kWatches = 50;
    const Results results(kWatches), others(1);
    Scope scope;
    const janus_task task = scope.go(park_until_cancelled, nullptr);
    for (int i = 0; i < kWatches; ++i) CHECK_EQ(janus_task_watch(task, results.get()), 0);
    CHECK_EQ(janus_task_watch(task, others.get()), 0);
    CHECK(results.is_empty());
    CHECK_EQ(janus_unpark(task), 0);
    scope.await();
    for (int i = 0; i < kWatches; ++i) CHECK_EQ(results.take().kind, JANUS_KIND_SUCCESS);
    CHECK(results.is_empty());
    CHECK_EQ(others.take().kind, JANUS_KIND_SUCCESS);
    scope.end();
  });
}

TEST(watch, no_end_waits_for_a_full_a_closed_or_a_lost_channel) {
  on_any_workers([] {
    const std::uint64_t before = stats_of().bytes_in_use;
    {
      const Results full(1), closed(1);
      janus_channel* const lost = janus_channel_create(sizeof(janus_result), 1);
      Scope scope;
      const janus_task task = scope.go(park_until_cancelled, nullptr);
      for (int i = 0; i < 3; ++i)
        for (janus_channel* channel : {full.get(), closed.get(), lost}) CHECK_EQ(janus_task_watch(task, channel), 0);
      CHECK_EQ(janus_channel_close(closed.get()), 0);
      janus_channel_release(lost);
      janus_channel* const next = janus_channel_create(sizeof(janus_result), 1);  // maybe in the same record
      CHECK_EQ(janus_unpark(task), 0);
      CHECK_EQ(scope.end(), 0);
      janus_result result{};
      CHECK_EQ(janus_channel_try_recv(next, &result), JANUS_E_WOULD_BLOCK);
      CHECK_EQ(full.take().kind, JANUS_KIND_SUCCESS);
      CHECK(full.is_empty());
      janus_channel_release(next);
    }
    CHECK_EQ(stats_of().bytes_in_use, before);
  });
}

TEST(watch, wrong_channels_and_tasks_are_refused) {
  on_any_workers([] {
    const Results results(1);
    janus_channel* const words = janus_channel_create(8, 1);
    Scope scope;
    const janus_task task = scope.go(park_until_cancelled, nullptr);
    CHECK_EQ(janus_task_watch(task, nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_task_watch(task, words), JANUS_E_INVALID);
    CHECK_EQ(janus_task_watch({0}, results.get()), JANUS_E_INVALID);
    CHECK_EQ(janus_task_watch({task.raw ^ (std::uint64_t{1} << 40)}, results.get()), JANUS_E_STALE);
    auto sibling = [&] {
      Scope own;
      const janus_task child = own.go(park_until_cancelled, nullptr);
      CHECK_EQ(janus_task_watch(child, results.get()), 0);
      own.cancel();
      own.end();
      CHECK_EQ(results.take().kind, JANUS_KIND_CANCELLED);
      return 0;
    };
    CHECK_EQ(janus_task_join(scope.go(sibling), nullptr), 0);
    CHECK_EQ(janus_task_watch(janus_task_self(), results.get()), 0);  // nobody has to read it
    scope.cancel();
    scope.end();
    janus_channel_release(words);
  });
  CHECK_EQ(janus_task_watch({1}, nullptr), JANUS_E_NO_TASK);
}

TEST(watch, the_watcher_pays_also_from_a_cage) {
  on_any_workers([] {
    const Results results(4);
    janus_budget budget = budget_of(1'000'000);
    budget.channel_ops = 3;
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget);
    auto watcher = [&] {
      Scope own;
      const janus_task task = own.go(park_until_cancelled, nullptr);
      const std::size_t before = janus_budget_get_current().memory;
      for (int i = 0; i < 3; ++i) CHECK_EQ(janus_task_watch(task, results.get()), 0);
      CHECK_EQ(janus_budget_get_current().channel_ops, 0);
      CHECK_LT(janus_budget_get_current().memory, before);
      CHECK_EQ(janus_task_watch(task, results.get()), JANUS_E_BUDGET);
      CHECK_EQ(janus_unpark(task), 0);
      CHECK_EQ(own.await(), 0);
      CHECK_GE(janus_budget_get_current().memory, before);  // what the task itself had has come back, too
      own.end();
      return 0;
    };
    cage.go(watcher);
    CHECK_EQ(cage.end(), 0);
    for (int i = 0; i < 3; ++i) CHECK_EQ(results.take().kind, JANUS_KIND_SUCCESS);
    CHECK(results.is_empty());
  });
}

TEST(watch, tasks_that_end_while_they_are_watched_are_told_once) {
  on_any_workers([] {
    const auto rounds = static_cast<int>(scaled(100, 5));
    constexpr int kTasks = 8;
    const Results results(kTasks * 2);
    for (int round = 0; round < rounds; ++round) {
      Scope scope;
      janus_task tasks[kTasks];
      for (janus_task& task : tasks) task = scope.go(yield_and_return, as_arg(1));
      for (const janus_task task : tasks) {
        CHECK_EQ(janus_task_watch(task, results.get()), 0);
        CHECK_EQ(janus_task_watch(task, results.get()), 0);
      }
      scope.end();
      std::uint64_t sum = 0;
      for (int i = 0; i < kTasks * 2; ++i) sum += static_cast<std::uint64_t>(results.take().code);
      CHECK_EQ(sum, static_cast<std::uint64_t>(kTasks) * 2);
      CHECK(results.is_empty());
    }
  });
}

}  // namespace janus::test
