#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# mistakes.py SOURCE_ROOT SUPPORT_LIBRARY COMPILER ARGUMENT... — tests the models themselves: makes one plausible
# mistake at a time in the runtime's sources, which the model of the protocol has to find. TAP.
import collections
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "harness"))
from tap import Tap  # noqa: E402

DEQUE, DEQUE_H = "rt/sched/deque.cpp", "rt/sched/deque.h"
QUEUE, QUEUE_H = "rt/sched/yield_queue.cpp", "rt/sched/yield_queue.h"
LOCK, LOCK_H = "rt/base/biased_lock.cpp", "rt/base/biased_lock.h"
SPIN, SPIN_H = "rt/base/spinlock.cpp", "rt/base/spinlock.h"
PLAIN_LOCK = "tests/models/plain_lock.cpp"
LIFE = "rt/task/record/nursery_life.h"
CAP = "rt/task/record/cap.h"
LOCAL = "rt/task/account/local_key.h"
IDLE, PARKER = "rt/sched/idle.h", "rt/sched/parker.h"
ACCOUNT, CACHE, CACHE_H = "rt/budget/account_words.cpp", "rt/budget/root_memory.cpp", "rt/budget/memory_cache.h"
EXHAUSTION = "rt/task/account/exhaustion.cpp"
WAIT = "rt/task/wait/wait.h"
SELECTION = "rt/task/channels/selection.h"
MUTEX = "rt/task/sync/mutex_word.h"
SEAT, TIMERS = "rt/sched/timer_seat.h", "rt/sched/worker_timers.h"
WORLD = "rt/sched/world.h"
ASIDE = "rt/budget/account_aside.cpp"
KEEPING, PAUSES, ACCOUNTS_CPP = "rt/budget/keeping.cpp", "rt/budget/account_pauses.cpp", "rt/budget/accounts.cpp"
ACCOUNT_H, ACCOUNTS_H, UNSERVED = "rt/budget/account.h", "rt/budget/accounts.h", "rt/budget/account_unserved.cpp"
ACCOUNTS = [ACCOUNT, CACHE, "rt/budget/pool_charge.cpp", "rt/budget/accounts.cpp",
            *(f"rt/budget/account_{part}.cpp" for part in ("unserved", "table", "record", "recharge"))]

# The sources of the test program of each model, besides the test.
SOURCES = {
    "biased_lock": [LOCK, SPIN],
    "budget_wait": [EXHAUSTION, *ACCOUNTS, PLAIN_LOCK],
    "cap": [],
    "deque": [DEQUE, SPIN],
    "idle": [DEQUE, SPIN],
    "local_key": [],
    "mutex": [PLAIN_LOCK],
    "nursery": [],
    "account": [*ACCOUNTS, SPIN],
    "aside": [*ACCOUNTS, ASIDE, "rt/budget/account_books.cpp", KEEPING, PAUSES, SPIN],
    "memory_cache": [*ACCOUNTS, SPIN],
    "selection": [SPIN],
    "spinlock": [SPIN],
    "timer_seat": [SPIN],
    "worker_timers": ["rt/sched/timer_wheel.cpp", SPIN],
    "world": [],
    "yield_queue": [QUEUE, SPIN],
}


@dataclass
class Mistake:
    model: str
    what: str
    changes: list = field(default_factory=list)   # (file, text, replacement); replaces each occurrence of the text
    by: str = ""                                  # the test that finds it, if earlier tests take long


def mistake(model, what, *changes, by=""):
    return Mistake(model, what, list(changes), by)


LOOKS_AGAIN = """    if (top_.load(std::memory_order_relaxed) > bottom) [[unlikely]]
      return pop_contested(bottom);
"""
LOOKS_AT_LIMIT = """    if (head >= limit_.load(std::memory_order_relaxed)) [[unlikely]]
      return take_at_limit(head);
"""
THIEF_FENCES = """  if (fences_)
    full_fence();
  else
    platform::heavy_fence();
"""

MISTAKES = [
    mistake("deque", "no heavy fence between claim and look", (DEQUE, "    platform::heavy_fence();", "    ;")),
    mistake("deque", "no fence of a thief where there is no heavy one", (DEQUE, "    full_fence();", "    ;"), by="without_a_heavy_fence"),
    mistake("deque", "no fence of the owner where there is no heavy one", (DEQUE_H, "      full_fence();", "      ;"), by="without_a_heavy_fence"),
    mistake("deque", "the owner does not look again", (DEQUE_H, LOOKS_AGAIN, "")),
    mistake("deque", "no place is left free", (DEQUE_H, "bottom - top_seen_ >= mask_", "bottom - top_seen_ > mask_"),
            (DEQUE, "bottom - top_seen_ < mask_", "bottom - top_seen_ <= mask_")),
    mistake("deque", "the larger ring begins at top", (DEQUE, "i = top_seen_ - 1;", "i = top_seen_;")),
    mistake("deque", "a claim is not taken back", (DEQUE, "    top_.store(top, std::memory_order_relaxed);\n", "")),
    mistake("deque", "the owner that lost does not put bottom back",
            (DEQUE, "  bottom_.store(bottom + 1, std::memory_order_relaxed);\n  return {};", "  return {};")),
    mistake("deque", "the thief looks for one entry too few",
            (DEQUE, "  if (top >= bottom_.load(std::memory_order_acquire)) {", "  if (top > bottom_.load(std::memory_order_acquire)) {")),
    mistake("deque", "the oldest is taken without the lock", (DEQUE, "size() == 0 || !lock_.try_lock()", "size() == 0"),
            (DEQUE, "  lock_.unlock();\n  return entry;", "  return entry;")),
    mistake("deque", "the entry is pushed after the index",
            (DEQUE_H, "    slots_[bottom & mask_].store(entry.bits(), std::memory_order_relaxed);\n", ""),
            (DEQUE_H, "  // pairs with a thief's load of bottom_\n", "\n    slots_[bottom & mask_].store(entry.bits(), std::memory_order_relaxed);\n")),

    mistake("yield_queue", "no heavy fence between limit and look", (QUEUE, "    platform::heavy_fence();", "    ;")),
    mistake("yield_queue", "no fence of a thief where there is no heavy one", (QUEUE, "    full_fence();", "    ;"), by="without_a_heavy_fence"),
    mistake("yield_queue", "no fence of the owner where there is no heavy one", (QUEUE_H, "      full_fence();", "      ;"),
            by="without_a_heavy_fence"),
    mistake("yield_queue", "the owner does not look at the limit again", (QUEUE_H, LOOKS_AT_LIMIT, "")),
    mistake("yield_queue", "the gap is leapt over without the lock",
            (QUEUE, "  LockGuard guard(lock_);\n  // The thief may", "  // The thief may")),
    mistake("yield_queue", "the slot at the limit is the owner's",
            (QUEUE, "head_.load(std::memory_order_relaxed) <= limit;", "head_.load(std::memory_order_relaxed) <= limit + 1;")),
    mistake("yield_queue", "a limit is not put back", (QUEUE, "      limit_.store(kNoLimit, std::memory_order_relaxed);\n", "")),
    mistake("yield_queue", "the ring is replaced without the lock",
            (QUEUE, "  LockGuard guard(lock_);\n  for", "  for"), by="a_ring_that_is_replaced"),
    mistake("yield_queue", "a larger ring lacks the last", (QUEUE, "  for (std::int64_t i = head_.load(std::memory_order_relaxed); i < tail; ++i)",
                                                            "  for (std::int64_t i = head_.load(std::memory_order_relaxed); i < tail - 1; ++i)"),
            by="a_ring_that_is_replaced"),

    mistake("mutex", "a task that waits sets no bit", (MUTEX, "look.will_wait ? bits | HolderWord::kWaiters : bits", "bits")),
    mistake("mutex", "who takes it forgets those who wait", (MUTEX, "poison | HolderWord::kWaiters |", "poison |"), by="three_tasks"),
    mistake("mutex", "an unlock forgets those who wait", (MUTEX, "HolderWord::kPoisoned) | waiting", "HolderWord::kPoisoned)")),
    mistake("mutex", "the first waiter sleeps and does not say so", (MUTEX, "look.is_first ? after & ~HolderWord::kBarges : after", "after")),
    mistake("mutex", "an unlock does not ask whether the first waiter is awake", (MUTEX, "barges_left(bits) != 0 && (bits & HolderWord::kHolder) == me", "(bits & HolderWord::kHolder) == me")),
    mistake("mutex", "others take it for ever", (MUTEX, "? bits - HolderWord::kBarge : bits", "? bits : bits")),
    mistake("mutex", "who takes it by the lock of the bucket is not counted", (MUTEX, "one_barge_less(bits & HolderWord::kBarges)", "bits & HolderWord::kBarges")),
    mistake("mutex", "nobody is told of a holder that has ended", (MUTEX, "holder != 0 ? HolderWord::kPoisoned : bits", "bits"),
            by="one_ends_with_it"),
    mistake("mutex", "an unlock heals", (MUTEX, "next | (bits & HolderWord::kPoisoned) |", "next |"), by="one_ends_with_it"),

    mistake("biased_lock", "no heavy fence", (LOCK, "  platform::heavy_fence();\n", "")),
    mistake("biased_lock", "the owner does not look again", (LOCK_H, "is_mine = cmp_acquire(owner_, &me);", "is_mine = true;")),
    mistake("biased_lock", "one word for the announcements of all",
            (LOCK_H, "me.holds_", "holds_of_all_"), (LOCK, "owner.holds_", "holds_of_all_"), (LOCK, "me.holds_", "holds_of_all_"),
            (LOCK, "me->holds_", "holds_of_all_"), (LOCK_H, "  RankedLock<LockRank::kChannel> lock_;\n", "  RankedLock<LockRank::kChannel> lock_;\n  Atomic<const BiasedLock*> holds_of_all_{nullptr};\n")),
    mistake("biased_lock", "the owner does not tell that it has left", (LOCK_H, "      wake_revoker();\n", "      ;\n")),
    mistake("biased_lock", "who backs off does not tell", (LOCK, "  me.holds_.store(nullptr, std::memory_order_release);\n  wake_revoker();",
                                                           "  me.holds_.store(nullptr, std::memory_order_release);")),
    mistake("biased_lock", "departures are not counted", (LOCK, "  departures_.fetch_add(1, std::memory_order_release);\n", "")),
    mistake("biased_lock", "departures are read after the look",
            (LOCK, "    const std::uint32_t seen = departures_.load(std::memory_order_acquire);\n", ""),
            (LOCK, "      platform::wait(departures_, seen,", "      platform::wait(departures_, departures_.load(std::memory_order_acquire),")),
    mistake("biased_lock", "given up for good before it is left",
            (LOCK, "  me->holds_.store(nullptr, std::memory_order_release);\n  LockOwner* expected = me;", "  LockOwner* expected = me;"),
            (LOCK, "    wake_revoker();\n}\n\n[[gnu::noinline]] void BiasedLock::leave",
             "    wake_revoker();\n  me->holds_.store(nullptr, std::memory_order_release);\n}\n\n[[gnu::noinline]] void BiasedLock::leave"),
            by="a_guest_and_one_who_gives_it_up_for_good"),
    mistake("biased_lock", "an owner at rest", (LOCK, "    owner_.store(nullptr, std::memory_order_relaxed);\n    return lock_.unlock();",
                                                "    return lock_.unlock();")),

    mistake("cap", "the epoch grows before the token is marked",
            (CAP, "    const bool is_first = is_revoked.exchange(1, std::memory_order_relaxed) == 0;\n", ""),
            (CAP, "    return is_first;", "    return is_revoked.exchange(1, std::memory_order_relaxed) == 0;")),
    mistake("cap", "who is not the first to revoke it does not see to the epoch",
            (CAP, "    epoch.fetch_add(1, std::memory_order_release);", "    if (!is_first) return false;\n    epoch.fetch_add(1, std::memory_order_release);")),
    mistake("cap", "the epoch does not grow",
            (CAP, "    epoch.fetch_add(1, std::memory_order_release);  // pairs with is_in_force()\n", "")),
    mistake("cap", "what was found is kept under a later epoch",
            (CAP, "clean_epoch.store(seen,", "clean_epoch.store(epoch.load(std::memory_order_acquire),")),
    mistake("cap", "the epoch is read after the tokens were looked at",
            (CAP, "    const std::uint64_t seen = epoch.load(std::memory_order_acquire);  // pairs with revoke()\n"
                  "    if (clean_epoch.load(std::memory_order_relaxed) == seen) return true;\n",
             "    if (clean_epoch.load(std::memory_order_relaxed) == epoch.load(std::memory_order_acquire)) return true;\n"),
            (CAP, "    clean_epoch.store(seen,", "    const std::uint64_t seen = epoch.load(std::memory_order_acquire);\n    clean_epoch.store(seen,")),
    mistake("cap", "only the token itself is looked at", (CAP, "up = up->parent, ++steps", "up = nullptr, ++steps")),
    mistake("cap", "a look and a store in place of an exchange",
            (CAP, "is_revoked.exchange(1, std::memory_order_relaxed) == 0;",
             "is_revoked.load(std::memory_order_relaxed) == 0;\n    is_revoked.store(1, std::memory_order_relaxed);")),

    mistake("local_key", "the key is not looked at again",
            (LOCAL, "return key_.load(std::memory_order_relaxed) == key ? destroy : nullptr;", "return destroy;")),
    mistake("local_key", "the key is cleared after its destructor is replaced",
            (LOCAL, "    key_.store(0, std::memory_order_relaxed);\n", "")),

    mistake("spinlock", "unlock wakes nobody", (SPIN_H, "      wake_one();", "      ;")),
    mistake("spinlock", "no heavy fence before sleep", (SPIN, "  if (is_fenced) platform::heavy_fence();\n", "")),
    mistake("spinlock", "who waited counts itself out too early",
            (SPIN, "  waiting_.fetch_sub(1, std::memory_order_relaxed);\n", ""),
            (SPIN, "  while (!try_lock()) {", "  waiting_.fetch_sub(1, std::memory_order_relaxed);\n  while (!try_lock()) {")),
    mistake("spinlock", "a look and a store in place of a locked instruction",
            (SPIN_H, "    return held_.compare_exchange_strong(expected, 1, std::memory_order_acquire, std::memory_order_relaxed);",
             "    if (held_.load(std::memory_order_acquire) != expected) return false;\n    held_.store(1, std::memory_order_relaxed);\n    return true;")),

    mistake("idle", "no heavy fence of who goes to sleep", (IDLE, "    (counts & kTrusting) != 0 || fences_ ? full_fence() : platform::heavy_fence();", "")),
    mistake("idle", "no fence of who submits where there is no heavy one",
            (IDLE, "    if (fences_) [[unlikely]]\n      full_fence();\n    compiler_barrier();", "    compiler_barrier();"),
            by="without_a_heavy_fence"),
    mistake("idle", "who is claimed does not count as searching", (IDLE, "fetch_add(kDeparted + kSearching - kSleeping,", "fetch_add(kDeparted - kSleeping,")),
    mistake("idle", "who sleeps goes on counting as searching", (IDLE, " - (was_searching ? kSearching : 0)", "")),
    mistake("idle", "a token that was left before is forgotten", (PARKER, "if (state_.compare_exchange_strong(expected, kParked, std::memory_order_relaxed))",
                                                                  "if (state_.exchange(kParked) != expected + 7)")),
    mistake("idle", "who was the last one stays the last one", (IDLE, "return ((counts ^ entered.counts) & ~kFences) == 0;", "return is_last(entered) && counts != 0;")),
    mistake("idle", "a waker is awake for ever", (IDLE, "return (sleepers_[worker / 64].load(std::memory_order_acquire) >> (worker % 64) & 1) != 0;", "return worker > workers_;")),
    mistake("idle", "what is left to its waker is looked at by nobody", (IDLE, "!is_asleep(waker) && has_timed_sleeper()", "!is_asleep(waker)"),
            by="work_left_to_a_waker_that_keeps_running_is_taken"),
    mistake("idle", "who leaves the sleepers does not go on searching", (IDLE, " + (was_searching ? kSearching : 0)", ""),
            by="no_job_waits_behind_an_endless_one_while_a_worker_sleeps"),
    mistake("idle", "no fence of who submits while somebody searches", (IDLE, "    full_fence();\n    return !will_look", "    return !will_look"),
            by="no_job_waits_behind_an_endless_one_while_a_worker_sleeps"),
    mistake("idle", "who has backed off goes on being trusted", (IDLE, "    backed_off_.fetch_sub(1, std::memory_order_acq_rel);\n", ""),
            by="no_job_waits_where_a_worker_that_has_backed_off_is_trusted"),
    mistake("idle", "who has watched looks without a fence", (IDLE, "    if (cpus_ < workers_) fence();\n", ""), by="no_job_waits_behind_an_endless_one_that_has_the_only_cpu"),
    mistake("idle", "what no CPU is free for is left to nobody", (IDLE, "    return !has_free_cpu(counts) && watching_of(counts) != 0;", "    return !has_free_cpu(counts);"),
            by="no_job_waits_behind_an_endless_one_that_has_the_only_cpu"),
    mistake("idle", "who has watched leaves the rest to nobody", (IDLE, "&& !is_left_to_others(counts);", "&& has_free_cpu(counts);"), by="no_job_waits_behind_an_endless_one_that_has_the_only_cpu"),
    mistake("idle", "submitters do not fence for those who trust them", (IDLE, "    full_fence();  // pairs with the one in enter()\n", ""),
            by="who_sleeps_again_leaves_the_fence_to_submitters"),
    mistake("idle", "sleepers trust submitters that have not been fenced", (IDLE, "    (counts & kTrusting) != 0 || fences_", "    (counts & kFencing) != 0 || fences_")),
    mistake("idle", "unpark wakes nobody", (PARKER, "platform::wake(state_, 1);", "{}")),

    mistake("timer_seat", "no heavy fence of who goes to sleep", (IDLE, "    (counts & kTrusting) != 0 || fences_ ? full_fence() : platform::heavy_fence();", "")),
    mistake("timer_seat", "no fence of who arms a timer where there is no heavy one",
            (IDLE, "    if (fences_) [[unlikely]]\n      full_fence();\n    compiler_barrier();", "    compiler_barrier();")),
    mistake("timer_seat", "who gives up the seat leaves its time", (SEAT, "place->store(platform::kForever, std::memory_order_relaxed);", "{}"),
            by="who_sleeps_until_a_timer_gets_work"),
    mistake("timer_seat", "all sleep as if somebody were awake", (SEAT, "is_anybody_awake && nearest <", "nearest <"), by="all_sleep"),
    mistake("timer_seat", "who is awake is relied upon for ever", (SEAT, "nearest + (is_late ? kHeldNs : 0)", "is_late ? platform::kForever : nearest")),

    mistake("world", "no fence of who announces", (WORLD, "mine.store(kSafe, std::memory_order_seq_cst);", "mine.store(kSafe, std::memory_order_release);")),
    mistake("world", "no fence of who comes back", (WORLD, "mine.store(kRuns, std::memory_order_seq_cst);", "mine.store(kRuns, std::memory_order_relaxed);")),
    mistake("world", "who announces tells nobody", (WORLD, "    platform::wake(arrivals_, 1);\n", "")),
    mistake("world", "who comes back does not look", (WORLD, "    return !is_to_stop();  // pairs with go_on()", "    return true;")),
    mistake("world", "who stands does not look again", (WORLD, "while (!come_back(mine));", "while ((mine.store(kRuns, std::memory_order_relaxed), false));")),
    mistake("world", "those that stand are not woken", (WORLD, "    platform::wake(word_, 1u << 30);\n", "")),

    mistake("worker_timers", "a timer is freed while it fires", (TIMERS, "    LockGuard until_it_has_fired(firing);\n", "")),
    mistake("worker_timers", "who takes a timer lets go before it has fired",
            (TIMERS, "    if (count != 0) fire(due, count);", "    firing.unlock();\n    if (count != 0) fire(due, count);\n    firing.lock();")),
    mistake("worker_timers", "two take timers at once", (TIMERS, "    if (!firing.try_lock()) return;", "    if (!firing.try_lock()) {}")),

    mistake("nursery", "no heavy fence of a visitor", (LIFE, "      if (!is_shared && platform::has_heavy_fence()) platform::heavy_fence();\n", "")),
    mistake("nursery", "the owner does not look for visitors", (LIFE, "external_refs.load(std::memory_order_acquire) == 0 && word", "word")),
    mistake("nursery", "the owner does not look at the word", (LIFE, "== 0 && word.load(std::memory_order_acquire) == 0;", "== 0;")),
    mistake("nursery", "the owner does not wait for visitors", (LIFE, "    while (external_refs.load(std::memory_order_acquire) != 0) pause();\n", "")),
    mistake("nursery", "the word is cleaned by a store", (LIFE, "word.exchange(0, std::memory_order_seq_cst);", "word.store(0, std::memory_order_relaxed);")),
    mistake("nursery", "a visitor does not look whether it is alive", (LIFE, "if (is_valid) return true;", "return true;")),
    mistake("nursery", "a visitor goes while it is ending", (LIFE, "seen != kEnding;", "true;")),
    mistake("nursery", "a child is counted in whether it is closed or not", (LIFE, "if ((seen & kShut) != 0) return false;", "")),
    mistake("nursery", "the last child does not tell that the owner waits", (LIFE, "return before - NurseryWord::kChild < NurseryWord::kChild ||", "return")),
    mistake("nursery", "a child with a record does not tell who waits for any", (LIFE, "(kHasRecord && (before & NurseryWord::kAnyEnd) != 0)", "false"),
            by="who_waits_for_any_end_is_told_each_once"),
    mistake("nursery", "a cancel does not keep it from its end", (LIFE, "(seen | kMarks) + NurseryWord::kChild", "seen | kMarks")),
    mistake("nursery", "what has ended is cancelled", (LIFE, "NurseryWord::is_terminal(seen) || (seen & ", "(seen & ")),

    mistake("account", "who owes does not look whether something was put in meanwhile",
            (ACCOUNT, "    account->owed_.fetch_add(amount, std::memory_order_seq_cst);\n    pay_debt(account);\n",
             "    account->owed_.fetch_add(amount, std::memory_order_seq_cst);\n")),
    mistake("account", "who puts something in does not look whether somebody owes",
            (ACCOUNT, "    if (component == Component::kOps) pay_debt(account);\n", "")),
    mistake("account", "who waits looks before others see that it waits",
            (ACCOUNT_H, "push_back(&wait);\n    full_fence();", "push_back(&wait);")),
    mistake("account", "who puts something in does not look whether somebody waits",
            (ACCOUNT, "        unserved_.list(account);\n", "        (void)0;\n")),
    mistake("account", "an account that was served stays listed",
            (ACCOUNTS_H, "next_unserved.exchange(0,", "next_unserved.fetch_add(0,")),
    mistake("account", "who lists a second account forgets the first",
            (UNSERVED, "next.store(first,", "next.store(kEnd,")),
    mistake("account", "two who pay do not tell each other what they pay",
            (ACCOUNT, "account->owed_.exchange(0, std::memory_order_seq_cst);\n    const", "account->owed_.load(std::memory_order_seq_cst);\n    const")),
    mistake("account", "who pays a part does not look again",
            (ACCOUNT, "    if (account->left_[static_cast<unsigned>(Component::kOps)].load(std::memory_order_seq_cst) == 0) return;\n", "    return;\n")),

    mistake("aside", "a draw that finds nothing aside does not look again",
            (ASIDE, "take_back(account, component) ||\n         account->left_[static_cast<unsigned>(component)].load(std::memory_order_seq_cst) >= amount;",
             "take_back(account, component);")),
    mistake("aside", "an amount that goes below the mark is in neither place",
            (KEEPING, "compare_exchange_strong(nothing, Account::kMoving,", "compare_exchange_strong(nothing, 0,")),
    mistake("aside", "a mark that comes writes over what was put aside meanwhile",
            (KEEPING, "if (!aside.compare_exchange_strong(nothing, Account::kMoving, std::memory_order_seq_cst)) return true;",
             "if (aside.load(std::memory_order_seq_cst) != nothing) return true;\n  aside.store(Account::kMoving, std::memory_order_seq_cst);")),
    mistake("aside", "a close takes for an amount what only says that one moves",
            (ASIDE, "while (aside == Account::kMoving || !word.compare_exchange_weak(aside, 0,", "while (!word.compare_exchange_weak(aside, 0,")),
    mistake("aside", "what comes back in a pause can be drawn", (ACCOUNTS_CPP, "  if (AccountWords::has_aside()) see_to_pause(account->parent_);\n", "")),

    mistake("budget_wait", "the lock is released before the task waits",
            (WAIT, "      end = block(\n          self, awaited.reason(), []", "      awaited.unlock(), end = block(\n          self, awaited.reason(), []"),
            (WAIT, "static_cast<T*>(it)->unlock();", "(void)it;"), by="a_recharge_from_outside_serves_a_wait_and_none_ends_before_it"),
    mistake("budget_wait", "a wait for a recharge from outside ends before its opener awaits",
            (EXHAUSTION, "if (owner == nullptr) return is_awaited || runtime.options.is_program;", "if (owner == nullptr) return true;"),
            by="a_recharge_from_outside_serves_a_wait_and_none_ends_before_it"),
    mistake("budget_wait", "waits end though a task has gone on meanwhile",
            (EXHAUSTION, "    if (!runtime.scheduler.all_slept_since(entered)) return true;\n", ""), by="a_recharge_from_outside_serves_a_wait_and_none_ends_before_it"),
    mistake("budget_wait", "a wait is not counted",
            (EXHAUSTION, "  runtime.exhausted.fetch_add(1, std::memory_order_relaxed);\n", ""), by="the_later_half_of_the_hopeless_waits_ends"),
    mistake("budget_wait", "all hopeless waits end at once",
            (EXHAUSTION, "hopeless == 1 ? 0 : hopeless - hopeless / 2;", "0;"), by="the_later_half_of_the_hopeless_waits_ends"),
    mistake("budget_wait", "the opener of a nursery ends no earlier than the tasks in it",
            (EXHAUSTION, "{Hopeless::kAwaited, Hopeless::kAll}", "{Hopeless::kAll}"), by="an_opener_that_may_recharge_ends_first"),
    mistake("budget_wait", "a later task is served first",
            (EXHAUSTION, "        } else if (how == Serving::kInOrder) {\n          break;\n", ""), by="waits_are_served_in_their_order"),
    mistake("budget_wait", "a task does not wait at its own account",
            (EXHAUSTION, "  change_own(runtime, own_wait, true);\n", ""), (EXHAUSTION, "  change_own(runtime, own_wait, false);\n", ""),
            by="what_is_freed_is_offered_while_another_task_runs"),
    mistake("budget_wait", "a task that looks itself, and is about to wait, is forgotten",
            (EXHAUSTION, "            runtime.accounts.list_unserved(account);\n          continue;", "            (void)0;\n          continue;"),
            by="what_is_freed_is_offered_while_another_task_runs"),
    mistake("budget_wait", "a wait that ends does not let the next one look",
            (EXHAUSTION, "if (!others().is_empty()) runtime.accounts.list_unserved(account);", ";"),
            by="what_is_freed_is_offered_while_another_task_runs"),

    mistake("selection", "the caller's own selection is not locked",
            (SELECTION, "    first->lock_.lock();\n    if (second != nullptr) second->lock_.lock();", "    if (theirs != nullptr) theirs->lock_.lock();"),
            (SELECTION, "    if (mine_ != nullptr) mine_->lock_.unlock();\n", "")),
    mistake("selection", "the selection of the other side is not locked",
            (SELECTION, "    first->lock_.lock();\n    if (second != nullptr) second->lock_.lock();", "    if (mine != nullptr) mine->lock_.lock();"),
            (SELECTION, "    if (theirs_ != nullptr) theirs_->lock_.unlock();\n", "")),
    mistake("selection", "the caller's own selection is locked first",
            (SELECTION, "mine == nullptr || (theirs != nullptr && theirs < mine) ? theirs : mine;", "mine == nullptr ? theirs : mine;")),
    mistake("selection", "a case is taken though another one is",
            (SELECTION, "return theirs_ == nullptr || theirs_->is_open();", "return true;")),
    mistake("selection", "the caller takes a case though another one is taken",
            (SELECTION, "return mine_ == nullptr || mine_->is_open();", "return true;")),

    mistake("memory_cache", "no heavy fence", (CACHE, "  platform::heavy_fence();", "  ")),
    mistake("memory_cache", "a draw of more than there is is made first",
            (CACHE_H, "    if (is_less_relaxed(limit_, more)) [[unlikely]]\n      return false;\n", ""), by="an_owner_and_one_who_calls_back"),
    mistake("memory_cache", "the owner does not look again after a draw", (CACHE_H, "    if (!is_less_relaxed(limit_, more)) [[likely]]\n", "")),
    mistake("memory_cache", "the owner does not look again after a credit",
            (CACHE_H, "    return !is_less_relaxed(most_, static_cast<std::uint64_t>(chunk));", "    (void)chunk;\n    return true;")),
    mistake("memory_cache", "the owner keeps a draw that it makes again", (CACHE_H, "    subtract_as_owner(used_, static_cast<std::int64_t>(bytes));\n    return false;", "    return false;")),
    mistake("memory_cache", "a recall does not stop the owner", (CACHE, "    cache->limit_.store(MemoryCache::kRecalled, std::memory_order_relaxed);\n", "")),
    mistake("memory_cache", "a recall believes a draw that will be taken back", (CACHE, "used < limit ? limit - used : 0;", "limit - used;")),
    mistake("memory_cache", "a recall lets the owner go on before the bound is lowered",
            (CACHE, "    cache->most_.store(0, std::memory_order_relaxed);\n    cache->limit_.store(limit - rest, std::memory_order_release);",
             "    cache->limit_.store(limit - rest, std::memory_order_release);\n    cache->most_.store(0, std::memory_order_relaxed);")),
    mistake("memory_cache", "a chunk is taken twice", (CACHE, "cache->limit_.store(limit - rest, std::memory_order_release);",
                                                     "cache->limit_.store(limit, std::memory_order_release);")),
    mistake("memory_cache", "a refill without the lock", (CACHE, "  const LockGuard guard(moves_);\n  if (++fills_", "  if (++fills_")),
    mistake("memory_cache", "a chunk is cut without the lock", (CACHE, "void RootMemory::cut(MemoryCache& cache) noexcept {\n  const LockGuard guard(moves_);",
                                                             "void RootMemory::cut(MemoryCache& cache) noexcept {")),
]


class Build:
    def __init__(self, root, support, compiler, directory):
        self.root, self.support, self.compiler, self.directory = root, support, compiler, directory
        self.locks = collections.defaultdict(threading.Lock)

    def overlay(self, name, changes):
        """Returns a folder with the changed files, for an include path before the tree's. Raises ValueError if a text is missing."""
        folder, texts = os.path.join(self.directory, name), {}
        for file, old, new in changes:
            if file not in texts:
                with open(os.path.join(self.root, file), encoding="utf-8") as original:
                    texts[file] = original.read()
            if old not in texts[file]:
                raise ValueError(f"{file} does not contain {old!r}")
            texts[file] = texts[file].replace(old, new)
        for file, text in texts.items():
            os.makedirs(os.path.dirname(os.path.join(folder, file)), exist_ok=True)
            with open(os.path.join(folder, file), "w", encoding="utf-8") as changed:
                changed.write(text)
        return folder

    def compile(self, source, out, overlay=()):
        folders = [*overlay, os.path.join(self.root, "tests/models/replaced"), self.root,
                   os.path.join(self.root, "arch/x86_64/include")]
        subprocess.run([*self.compiler, *(f"-I{folder}" for folder in folders), "-c", source, "-o", out],
                       check=True, capture_output=True, text=True)
        return out

    def as_it_is(self, source):
        """The object of an unchanged source, compiled once for all mistakes in other files."""
        with self.locks[source]:
            out = os.path.join(self.directory, source.replace("/", "_") + ".o")
            return out if os.path.exists(out) else self.compile(os.path.join(self.root, source), out)

    def program(self, model, name, changes):
        overlay = self.overlay(name, changes)
        includes_any = any(file.endswith(".h") for file, _, _ in changes)
        objects = []
        for source in (f"tests/models/{model}_model_test.cpp", *SOURCES[model]):
            changed = os.path.join(overlay, source)
            if os.path.exists(changed) or includes_any:
                text = changed if os.path.exists(changed) else os.path.join(self.root, source)
                objects.append(self.compile(text, os.path.join(self.directory, f"{name}-{len(objects)}.o"), [overlay]))
            else:
                objects.append(self.as_it_is(source))
        out = os.path.join(self.directory, f"{name}-test")
        subprocess.run([*self.compiler, *objects, self.support, "-o", out], check=True, capture_output=True, text=True)
        return out


def judge(build, number, found):
    """Returns whether the model finds the mistake, and the model's output up to the first test that fails."""
    try:
        program = build.program(found.model, f"mistake-{number}", found.changes)
    except subprocess.CalledProcessError as error:
        return False, error.stderr
    except ValueError as error:
        return False, str(error)
    said = []
    tests = [f"{found.model}_model.{found.by}"] if found.by else []
    with subprocess.Popen(["prlimit", "--cpu=200", program, *tests],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        for line in running.stdout:
            if not line.startswith("#   :"):
                said.append(line)
            if line.startswith("not ok"):
                running.kill()
                break
    return said[-1:] != [] and said[-1].startswith("not ok"), f"status {running.returncode}\n" + "".join(said)


def main():
    root, support, compiler = sys.argv[1], sys.argv[2], sys.argv[3:]
    only = os.environ.get("JANUS_TEST_ONLY", "")  # the name of a model, for work on it
    mistakes = [one for one in MISTAKES if only in one.model]
    tap = Tap()
    with tempfile.TemporaryDirectory() as directory, concurrent.futures.ThreadPoolExecutor(2) as pool:
        build = Build(root, support, compiler, directory)
        verdicts = [pool.submit(judge, build, number, found) for number, found in enumerate(mistakes, 1)]
        for found, verdict in zip(mistakes, verdicts):
            tap.check(f"{found.model} finds: {found.what}", *verdict.result())
    tap.end()


main()
