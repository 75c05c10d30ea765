// SPDX-License-Identifier: Apache-2.0
// budget_wait_model_test.cpp — every interleaving of tasks that wait for memory of a budget (rt/task/account/exhaustion.cpp),
// of the worker that serves them, or ends their waits when all tasks wait, and of one more thread that recharges, frees
// and cancels.
#include "rt/task/account/exhaustion.h"

#include "rt/task/wait/cancel.h"
#include "tests/harness/test.h"
#include "tests/models/explorer.h"

namespace janus {

// What a task waits for that allocates in an account that pays for pages: here blocks are only counted.
struct BlockRequest {
  Atomic<std::uint32_t>& idle;
};
bool take_idle_block(BlockRequest& request) noexcept {
  std::uint32_t seen = request.idle.load();
  while (seen != 0 && !request.idle.compare_exchange_strong(seen, seen - 1)) {
  }
  return seen != 0;
}

}  // namespace janus

namespace {

using janus::Account;
using janus::Accounts;
using janus::Component;
using janus::kBudgetWaits;
using janus::Nursery;
using janus::NurseryWord;
using janus::Recharge;
using janus::Scheduler;
using janus::Task;
using janus::WaitReason;
using janus::model::Fences;
using janus::model::require;

// Tasks in a nursery with a budget (the cage), which is used up at first.
struct Program {
  // '1', '2', '9': draws this much, and waits for it if need be; 9 never comes
  // '.': continues when the task before it waits
  // 'b': waits for an idle block, or memory that never comes
  // 'k': keeps what it has drawn; all other tasks give it back when they end
  // 'p': the task has a budget of its own, which is used up
  // 'o': the task has opened a nursery without a budget, to which the next task belongs, and awaits it at its end
  const char* tasks[2];
  // How each ends. 's': it was served, 'n': no task could recharge it, 'c': it was cancelled, '?': any
  const char* outcomes;
  // The program of one more thread. '+': a task that does not wait for the budget, and has the only worker; otherwise
  // the thread outside that has opened the cage.
  // 'r': recharges the cage with 1, 'f', 'F': frees 1 of the cage's budget, or of the first task's
  // 'i', 'I': makes a block idle, and offers it to those who wait at the cage's account, or the first task's
  // '.': continues when each task waits or has ended, 'u': when the last task has ended
  // 'c': cancels the first task, 'a': awaits the cage
  // 's': spawns a task, whose steps follow
  const char* other = nullptr;
  bool is_awaited = false;  // the cage, from the start
  std::uint64_t held = 0;   // the part of the cage's budget that each task has at first
};

struct BudgetWaitWorld {
  static constexpr unsigned kMaxTasks = 2;
  static constexpr std::uint64_t kGrant = 4;  // the cage's budget, all of which is drawn at first
  Program program;
  janus::Runtime runtime{};
  janus::Worker worker{};
  Nursery cage{}, inner{};
  Task tasks[kMaxTasks]{};
  std::uint64_t held[kMaxTasks] = {}, came = 0, kept = 0;
  char outcomes[kMaxTasks] = {'s', 's'};
  janus::Atomic<std::uint32_t> ended{};  // a bit for each task
  janus::Atomic<std::uint32_t> idle_blocks{};

  unsigned count() const { return program.tasks[1] == nullptr ? 1 : 2; }
  unsigned threads() const { return count() + (program.other == nullptr || is_inside() ? 1 : 2); }
  bool is_inside() const { return program.other != nullptr && program.other[0] == '+'; }
  static bool has(const char* text, char what) {
    while (*text != '\0' && *text != what) ++text;
    return *text == what;
  }

  // --- Before the threads ---

  void begin() {
    Accounts& accounts = runtime.accounts;
    constexpr std::uint64_t kAll = janus::kUnlimited;
    require(accounts.init({{kAll, kAll, kAll, kAll, kAll}}), "there is memory");
    accounts.notify_of_returns(
        [](void* scheduler) noexcept { static_cast<Scheduler*>(scheduler)->add_and_tell(Scheduler::kAttention); },
        &runtime.scheduler);
    begin_nursery(cage, nullptr, accounts.open(accounts.root(), {{0, kGrant, 0, 0, 0}}, nullptr));
    begin_nursery(inner, &tasks[0], cage.account);
    if (program.is_awaited) cage.word.store(NurseryWord::kWaiter);
    for (unsigned i = 0; i < count(); ++i) begin_task(i);
    require(accounts.draw(cage.account, Component::kMemory, accounts.left(cage.account, Component::kMemory)), "all");
    runtime.scheduler.counts.store((count() + (is_inside() ? 1 : 0)) * Scheduler::kRunning);
  }
  void begin_nursery(Nursery& nursery, Task* owner, Account* account) {
    require(account != nullptr, "there is an account");
    nursery.runtime = &runtime;
    nursery.account = account;
    nursery.owner.store(owner);
    nursery.alive.store(janus::NurseryAlive::kDrawing);
  }
  void begin_task(unsigned i) {
    tasks[i].nursery = i == 1 && has(program.tasks[0], 'o') ? &inner : &cage;
    tasks[i].account = cage.account;
    came += held[i] = program.held;
    if (!has(program.tasks[i], 'p')) return;
    tasks[i].account = runtime.accounts.open(cage.account, {{0, 1, 0, 0, 0}}, nullptr);
    require(tasks[i].account != nullptr && runtime.accounts.draw(tasks[i].account, Component::kMemory, 1), "its own");
  }

  // --- The threads ---

  void run(unsigned thread) {
    if (thread < count())
      run_task(thread);
    else if (thread == count() && program.other != nullptr)
      run_other();
    else
      run_worker();
  }

  void run_task(unsigned i) {
    for (const char* what = program.tasks[i]; *what != '\0' && outcomes[i] == 's'; ++what) {
      if (*what == '.') {
        sleep_until([&] { return waits_or_ended(i - 1); });
      } else if (*what == 'b') {
        await_block(i);
      } else if (*what >= '1' && *what <= '9') {
        draw(i, static_cast<std::uint64_t>(*what - '0'));
      }
    }
    if (has(program.tasks[i], 'k'))
      kept += held[i];
    else if (held[i] != 0)
      runtime.accounts.credit(tasks[i].account, Component::kMemory, held[i]);
    if (has(program.tasks[i], 'p')) runtime.accounts.close(tasks[i].account);
    if (has(program.tasks[i], 'o')) await_inner();
    ended.fetch_or(1u << i);
    runtime.scheduler.stop_one();
  }
  void await_block(unsigned i) {
    janus::BlockRequest request{idle_blocks};
    if (!take_idle_block(request)) wait(i, 9, &request);
  }
  void wait(unsigned i, std::uint64_t amount, janus::BlockRequest* request) {
    const Recharge got = kBudgetWaits.wait(tasks[i], Component::kMemory, amount, true, request);
    outcomes[i] = got == Recharge::kDrawn ? 's' : got == Recharge::kNever ? 'n' : 'c';
  }
  void draw(unsigned i, std::uint64_t amount) {
    if (!runtime.accounts.draw(tasks[i].account, Component::kMemory, amount)) wait(i, amount, nullptr);
    if (outcomes[i] == 's') held[i] += amount;
  }
  void await_inner() {
    inner.word.fetch_or(NurseryWord::kWaiter);
    runtime.scheduler.stop_one();
    sleep_until([&] { return has_ended(1); });
    runtime.scheduler.add(Scheduler::kRunning + Scheduler::kDeparted);
  }
  // Sleeps until the claim holds. A task that has begun to wait or has ended changes the counts, which wakes sleepers.
  template <typename Claim>
  void sleep_until(Claim claim) {
    for (;;) {
      const std::uint32_t seen = runtime.scheduler.counts.load();
      if (is_inside() && serves(seen)) continue;
      if (claim()) return;
      janus::model::sleep(&runtime.scheduler.counts, seen, true);
    }
  }
  bool has_ended(unsigned i) const { return (ended.load() & 1u << i) != 0; }
  bool waits_or_ended(unsigned i) const {
    return state_of(tasks[i]) == janus::waits_for(WaitReason::kBudget) || has_ended(i);
  }

  void run_other() {
    for (const char* what = program.other; *what != '\0'; ++what) {
      if (*what == '.') {
        for (unsigned i = 0; i < count(); ++i) sleep_until([&] { return waits_or_ended(i); });
      }
      if (*what == 'u') sleep_until([&] { return has_ended(count() - 1); });
      if (*what == 'r') {
        janus::Worker* const by = is_inside() ? &worker : nullptr;
        ++came;
        require(recharge(runtime, by, runtime.accounts.root(), cage.account, {{0, 1, 0, 0, 0}}), "there is enough");
      }
      if (*what == 'f' || *what == 'F') {
        runtime.accounts.credit(*what == 'f' ? cage.account : tasks[0].account, Component::kMemory, 1);
        ++came;
      }
      if (*what == 'i' || *what == 'I') {
        idle_blocks.fetch_add(1);
        offer_idle_block(runtime.accounts, *what == 'i' ? cage.account : tasks[0].account);
      }
      if (*what == 'c') cancel(tasks[0]);
      if (*what == 's') runtime.scheduler.add(Scheduler::kRunning + Scheduler::kDeparted);
      if (*what == 'a') {
        cage.word.fetch_or(NurseryWord::kWaiter);
        runtime.scheduler.add_and_tell(Scheduler::kDeparted);
      }
    }
    if (is_inside() || has(program.other, 's')) runtime.scheduler.stop_one();
    if (is_inside()) run_worker();
  }

  // As a task or a worker does when its attention is requested (hooks::on_attention).
  bool serves(std::uint32_t seen) {
    if ((seen & Scheduler::kAttention) == 0) return false;
    runtime.scheduler.counts.fetch_sub(Scheduler::kAttention);
    kBudgetWaits.serve_unserved(runtime, &worker);
    return true;
  }

  // As a worker does between two tasks, and when all sleep (hooks::on_all_idle).
  void run_worker() {
    Scheduler& scheduler = runtime.scheduler;
    for (;;) {
      const std::uint32_t seen = scheduler.counts.load();
      if (ended.load() == (1u << count()) - 1) return;
      if (serves(seen)) continue;
      if (Scheduler::running_of(seen) != 0 || !kBudgetWaits.fail_unrechargeable(runtime, &worker, {seen})) {
        janus::model::sleep(&scheduler.counts, seen, true);
      }
    }
  }

  // --- After them ---

  void end() {
    for (unsigned i = 0; i < count(); ++i)
      require(program.outcomes[i] == '?' || program.outcomes[i] == outcomes[i], "each wait ends as it has to");
    require(runtime.accounts.left(cage.account, Component::kMemory) == came - kept, "all of it is drawn once");
    require(runtime.exhausted.load() == 0, "nobody waits");
    require(idle_blocks.load() == 0 || has(program.outcomes, '?'), "each block was taken");
  }
};

bool goes_well(const char* name, const Program& program) {
  return janus::model::goes_well<BudgetWaitWorld>(name, Fences::kNoneNeeded, program);
}

TEST(budget_wait_model, a_recharge_from_outside_serves_a_wait_and_none_ends_before_it) {
  REQUIRE(goes_well("one task", {{"1"}, "s", "ra"}));
  REQUIRE(goes_well("a task that is spawned from outside leaves enough", {{"1"}, "s", "saf"}));
  REQUIRE(goes_well("a task with a budget of its own", {{"p1"}, "s", "+ru"}));
}

TEST(budget_wait_model, waits_are_served_in_their_order) {
  REQUIRE(goes_well("the first wants more", {{"2k", ".1k"}, "sn", "+.rra"}));
}

TEST(budget_wait_model, what_is_freed_is_offered_while_another_task_runs) {
  REQUIRE(goes_well("one task", {{"1"}, "s", "+fu"}));
  REQUIRE(goes_well("a task with a budget of its own", {{"p1"}, "s", "+Fu"}));
  REQUIRE(goes_well("the first is cancelled", {{"9", ".1"}, "cs", "+.fcu"}));
}

TEST(budget_wait_model, an_idle_block_is_offered_while_another_task_runs) {
  REQUIRE(goes_well("one task", {{"b"}, "s", "+iu"}));
  REQUIRE(goes_well("a task with a budget of its own", {{"pb"}, "s", "+Iu"}));
  REQUIRE(goes_well("two tasks", {{"b", ".b"}, "ss", "+.iiu"}));
  REQUIRE(goes_well("a cancel, and a block that is taken or not", {{"b"}, "?", "+icu"}));
}

TEST(budget_wait_model, the_later_half_of_the_hopeless_waits_ends) {
  REQUIRE(goes_well("one task", {{"9"}, "n", nullptr, true}));
  REQUIRE(goes_well("the first has what the second leaves", {{"1", ".1"}, "sn", nullptr, true, 1}));
}

TEST(budget_wait_model, an_opener_that_may_recharge_ends_first) {
  REQUIRE(goes_well("it leaves enough", {{"o1", ".1"}, "ns", nullptr, true, 1}));
}

TEST(budget_wait_model, a_cancel_ends_a_wait) {
  REQUIRE(goes_well("before it is served, or later", {{"1"}, "?", "rca"}));
  REQUIRE(goes_well("with nothing to come", {{"9"}, "c", "+c"}));
}

}  // namespace
