// SPDX-License-Identifier: Apache-2.0
// kinship_test.cpp — which tasks may join, read and release which others when threads outside tasks own the nurseries;
// who may create runtimes; and that a runtime lists all its nurseries.
#include <janus/llvm.h>

#include <atomic>

#include "rt/task/record/nursery.h"
#include "rt/task/record/runtime.h"
#include "tests/api/world.h"

namespace janus::test {

namespace {

// The results of the three calls with which a task can ask for another task's result.
struct Answers {
  int join = 1, result = 1, release = 1;
};

Answers ask_for(janus_task task) {
  Answers answers;
  answers.join = janus_task_join(task, nullptr);
  answers.result = janus_task_result(task, nullptr);
  answers.release = janus_task_release(task);
  return answers;
}

janus_task go(janus_nursery* nursery, janus_task_fn fn, void* arg) {
  return janus_nursery_spawn_in(nursery, fn, arg, nullptr);
}

// A task that asks for the result of a task which has already ended.
struct Asking {
  janus_task task;
  bool from_below;
  Answers answers;
  std::atomic<bool> has_answered = false;  // stored last, so that a thread outside may then read `answers`

  static std::int64_t run(void* pointer) {
    auto& self = *static_cast<Asking*>(pointer);
    auto ask = [&] { self.answers = ask_for(self.task); };
    Scope below;
    if (self.from_below)
      below.go(ask);
    else
      ask();
    const std::int64_t status = below.end();
    self.has_answered.store(true, std::memory_order_release);  // pairs with the thread's load before it reads `answers`
    return status;
  }
};

}  // namespace

namespace {

// Every call that creates, runs or destroys a runtime, with valid arguments.
struct Maker {
  const char* name;
  bool (*is_refused)(janus_rt* rt);
};
const Maker kMakers[] = {
    {"janus_rt_init",
     [](janus_rt*) {
       janus_rt_init(with_workers(1));
       return janus_rt_get() == nullptr;
     }},
    {"janus_rt_try_init",
     [](janus_rt*) {
       const janus_rt_config config = with_workers(1);
       return janus_rt_try_init(&config) == JANUS_E_STATE && janus_rt_get() == nullptr;
     }},
    {"janus_rt_shutdown",
     [](janus_rt*) {
       janus_rt_shutdown();
       return true;
     }},
    {"janus_rt_create",
     [](janus_rt*) {
       const janus_rt_config config = with_workers(1);
       return janus_rt_create(&config) == nullptr;
     }},
    {"janus_rt_run", [](janus_rt* rt) { return janus_rt_run(rt, return_zero, nullptr) == JANUS_E_STATE; }},
    {"janus_rt_destroy",
     [](janus_rt* rt) {
       janus_rt_destroy(rt);
       return true;
     }},
    {"janus_scheduler_create", [](janus_rt*) { return janus_scheduler_create(with_workers(1)) == nullptr; }},
    {"janus_scheduler_shutdown",
     [](janus_rt* rt) {
       janus_scheduler_shutdown(rt);
       return true;
     }},
};

}  // namespace

TEST(kinship, runtimes_are_made_run_and_ended_outside_tasks_only) {
  const janus_rt_config config = with_workers(1);
  janus_rt* const own = janus_rt_create(&config);
  janus_rt* const other = janus_rt_create(&config);
  for (const Maker& maker : kMakers) {
    for (janus_rt* const rt : {own, other}) {
      auto child = [&] {
        const std::uint32_t before = janus_budget_get_current().ops,
                            of_asking = before - janus_budget_get_current().ops;
        if (!CHECK(maker.is_refused(rt))) test::note("by", maker.name);
        CHECK_EQ(janus_last_error(), JANUS_E_STATE);
        CHECK_GE(before - janus_budget_get_current().ops, 2 * of_asking + 1);
        return 0;
      };
      auto root = [&] {
        janus_budget budget = JANUS_BUDGET_ALL;
        budget.ops = 1000;
        Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, budget);
        cage.go(child);
        return cage.end();
      };
      CHECK_EQ(janus_rt_run(own, call_closure<decltype(root)>, &root), 0);
    }
  }
  CHECK(janus_rt_get() == nullptr);
  CHECK_EQ(janus_rt_run(other, return_zero, nullptr), 0);
  janus_rt_destroy(other);
  janus_rt_destroy(own);
}

TEST(kinship, children_of_a_threads_nursery_are_for_those_in_it_and_below) {
  for (unsigned workers : {1u, 2u}) {
    const janus_rt_config config = with_workers(workers);
    janus_rt* const rt = janus_rt_create(&config);
    janus_nursery* const home = janus_nursery_open(rt, nullptr);
    janus_nursery* const elsewhere = janus_nursery_open(rt, nullptr);
    for (const bool from_below : {false, true}) {
      const janus_task asked_for[] = {go(home, return_zero, nullptr), go(home, return_zero, nullptr)};
      Asking stranger = {asked_for[0], from_below, {}, {}}, sibling = {asked_for[1], from_below, {}, {}};
      go(elsewhere, Asking::run, &stranger);
      go(home, Asking::run, &sibling);
      const std::uint64_t patience = platform::now_ns() + 60'000'000'000;
      auto is_over = [&] {
        for (const Asking* asking : {&stranger, &sibling})
          if (!asking->has_answered.load(std::memory_order_acquire)) return false;
        return stats_of(rt).tasks_live == 0;
      };
      while (!is_over() && platform::now_ns() < patience) __builtin_ia32_pause();
      for (const int answer : {stranger.answers.join, stranger.answers.result, stranger.answers.release})
        CHECK_EQ(answer, JANUS_E_NO_CAP);
      CHECK_EQ(sibling.answers.join, 0);
      CHECK_EQ(sibling.answers.result, 0);
      CHECK_EQ(sibling.answers.release, 0);
      // A handle suffices to cancel a task or ask for its state; the host's thread may also read and release any task.
      CHECK_EQ(janus_task_state(asked_for[0]), JANUS_TASK_COMPLETED);
      CHECK_EQ(janus_task_result(asked_for[0], nullptr), 0);
      CHECK_EQ(janus_task_release(asked_for[0]), 0);
    }
    for (janus_nursery* const nursery : {home, elsewhere}) {
      CHECK_EQ(janus_nursery_await(nursery, nullptr), 0);
      CHECK_EQ(janus_nursery_destroy(nursery), 0);
    }
    janus_rt_destroy(rt);
  }
}

// --- The list of all nurseries: the slab of their records, which the debugger's scripts walk as well ---

namespace {

struct Found {
  int count = 0;
  const Task* owner = nullptr;
};

Found find_open_nurseries(Runtime& runtime, char initial) {
  constexpr std::uint32_t kIndexes = 1 << 14;
  Found found;
  for (std::uint32_t i = 0; i < kIndexes; ++i) {
    const auto* const nursery = static_cast<const Nursery*>(runtime.nurseries.at(i));
    if (nursery == nullptr || !Nursery::is_alive(nursery->alive.load()) || nursery->name[0] != initial) continue;
    ++found.count;
    found.owner = nursery->owner.load();
  }
  return found;
}

}  // namespace

TEST(kinship, every_open_nursery_is_in_the_list_of_its_runtime) {
  run_in(with_workers(1), [] {
    Runtime& runtime = runtime_of(current_worker());
    const auto* const self = static_cast<Task*>(static_cast<Runnable*>(current_worker().task));
    CHECK_EQ(find_open_nurseries(runtime, '!').count, 0);
    janus_nursery_options options = {};
    options.name = "!listed";
    janus_nursery* nurseries[3];
    int open = 0;
    for (janus_nursery*& nursery : nurseries) {
      nursery = janus_nursery_open(nullptr, &options);
      const Found found = find_open_nurseries(runtime, '!');
      CHECK_EQ(found.count, ++open);
      CHECK(found.owner == self);
    }
    for (janus_nursery* const nursery : nurseries) {
      CHECK_EQ(end(nursery), 0);
      CHECK_EQ(find_open_nurseries(runtime, '!').count, --open);
    }
  });
}

}  // namespace janus::test
