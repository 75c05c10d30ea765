// SPDX-License-Identifier: Apache-2.0
// mutex_model_test.cpp — every interleaving of a few tasks that lock and unlock a mutex, give up waiting for it, or end
// with it, on rt/task/sync/mutex_word.h: one task at a time is inside, each that waits gets on (unlock-sees-waiters,
// first-is-awake, front-looks), is passed only so often, and is told of holders that have ended. The steps around the word
// are those of rt/task/sync/mutex.cpp and sync_queue.cpp, with a task for each thread.
#include "rt/task/sync/mutex_word.h"

#include "rt/base/spinlock.h"
#include "tests/harness/test.h"
#include "tests/models/explorer.h"

namespace {

using janus::Found;
using janus::HolderWord;
using janus::LockGuard;
using janus::SpinLock;
using janus::model::Fences;
using janus::model::require;

constexpr unsigned kMax = 3, kNobody = kMax;
constexpr unsigned kPatience = 1;  // a waiter is woken for nothing so often before it is handed the mutex
constexpr unsigned kBarges = 2;    // others may take it so often while the first waiter wakes up

// What a task does each time: 'l' locks and unlocks, 'e' locks and ends, 'g' waits until it is told to give up, 't' tries.
// It lives on afterwards, but for 'e'.
struct MutexWorld {
  unsigned tasks;
  const char* programs[kMax];
  janus::Atomic<std::uint64_t> word{0};
  SpinLock bucket{};
  // Under `bucket`.
  unsigned queue[kMax] = {kNobody, kNobody, kNobody};
  unsigned count = 0;
  struct Waiter {
    bool is_queued, is_granted, is_poisoned, was_woken;
    unsigned lost, watched;
  } waiters[kMax] = {};
  // Of each task; under its lock.
  SpinLock locks[kMax] = {};
  bool has_ended[kMax] = {};
  unsigned watcher[kMax] = {kNobody, kNobody, kNobody};
  bool is_over[kMax] = {};  // the watch of that task
  enum : std::uint32_t { kRuns, kWaits, kReady };
  janus::Atomic<std::uint32_t> states[kMax]{}, is_told[kMax]{};
  unsigned inside = kNobody, ended_with_it = kNobody;
  unsigned passed = 0;  // how many have taken it since the first waiter was woken

  unsigned threads() const { return tasks; }
  void begin() {
    for (Waiter& waiter : waiters) waiter.watched = kNobody;
  }

  static std::uint64_t bits_of(unsigned task) { return std::uint64_t{task + 1} << HolderWord::kHolderShift; }
  static unsigned task_of(std::uint64_t bits) { return static_cast<unsigned>((bits >> HolderWord::kHolderShift) - 1); }

  void run(unsigned me) {
    for (const char* step = programs[me]; *step != '\0'; ++step) {
      if (*step == 't' && !try_lock(me)) continue;
      if (*step != 't' && !lock(me, *step == 'g')) continue;
      if (*step == 'e') return end_task(me);
      inside = kNobody;
      unlock(me);
    }
  }
  void enter(unsigned me, bool is_poisoned) {
    require(inside == kNobody || (inside == ended_with_it && is_poisoned), "one task at a time is inside");
    require(is_poisoned == (ended_with_it != kNobody), "whoever gets the mutex of a task that has ended is told");
    inside = me;
  }
  void end_task(unsigned me) {
    LockGuard guard(locks[me]);
    if (inside == me) ended_with_it = me;
    has_ended[me] = true;
    if (watcher[me] == kNobody) return;
    is_over[watcher[me]] = true;
    wake(watcher[me]);
    watcher[me] = kNobody;
  }

  void wake(unsigned task) {
    std::uint32_t from = kWaits;
    (void)states[task].compare_exchange_strong(from, kReady);
  }
  bool watch(unsigned me, std::uint64_t bits) {
    unwatch(me);
    const unsigned holder = task_of(bits);
    LockGuard guard(locks[holder]);
    if (has_ended[holder]) return false;
    is_over[me] = false;
    watcher[holder] = me;
    waiters[me].watched = holder;
    return true;
  }
  void unwatch(unsigned me) {
    const unsigned holder = waiters[me].watched;
    if (holder == kNobody) return;
    LockGuard guard(locks[holder]);
    if (watcher[holder] == me) watcher[holder] = kNobody;
    waiters[me].watched = kNobody;
  }
  void see_to_front(std::uint64_t bits) {
    if (count == 0) return;
    const bool is_held = (bits & HolderWord::kHolder) != 0;
    if (!is_held || !watch(queue[0], bits)) wake_front();
  }
  void wake_front() {
    if (!waiters[queue[0]].was_woken) passed = 0;
    waiters[queue[0]].was_woken = true;
    wake(queue[0]);
  }
  void take_out(unsigned me) {
    unsigned at = 0;
    while (queue[at] != me) ++at;
    for (--count; at < count; ++at) queue[at] = queue[at + 1];
    waiters[me].is_queued = false;
    unwatch(me);
  }

  // As update_user(). Under the bucket's lock.
  Found look(unsigned me, bool have_others, bool will_wait, bool is_first, std::uint64_t& seen) {
    seen = word.load();
    for (;;) {
      Found found = Found::kFree;
      const auto ended = [this](std::uint64_t bits) {
        LockGuard guard(locks[task_of(bits)]);
        return has_ended[task_of(bits)];
      };
      const std::uint64_t after = janus::look_at(seen, {bits_of(me), have_others, will_wait, is_first}, ended, found);
      if (after == seen || word.compare_exchange_strong(seen, after)) return found;
    }
  }
  static bool is_taken(Found found) { return found == Found::kFree || found == Found::kPoisoned; }

  bool take_free(unsigned me) {
    std::uint64_t bits = 0;
    if (!word.compare_exchange_strong(bits, bits_of(me)))
      if (!janus::may_barge(bits) || !word.compare_exchange_strong(bits, janus::barged(bits, bits_of(me))))
        return false;
    enter(me, false);
    count_barge();
    return true;
  }
  void count_barge() {
    if (count != 0 && waiters[queue[0]].was_woken)
      require(++passed <= kBarges, "a waiter that is awake is passed a few times");
  }
  bool try_lock(unsigned me) {
    if (take_free(me)) return true;
    LockGuard guard(bucket);
    std::uint64_t seen = 0;
    const Found found = look(me, count != 0, false, false, seen);
    if (!is_taken(found)) return false;
    enter(me, found == Found::kPoisoned);
    count_barge();
    see_to_front(bits_of(me));
    return true;
  }

  bool lock(unsigned me, bool gives_up) {
    if (take_free(me)) return true;
    Waiter& mine = waiters[me];
    bucket.lock();
    while (!is_over_for(me)) {
      if (gives_up && is_told[me].load() != 0) {
        leave(me);
        bucket.unlock();
        return false;
      }
      states[me].store(kWaits);
      if (gives_up && is_told[me].load() != 0) wake(me);
      if (mine.watched != kNobody) {
        LockGuard guard(locks[mine.watched]);
        if (is_over[me]) wake(me);
      }
      bucket.unlock();
      while (states[me].load() == kWaits) janus::pause();
      states[me].store(kRuns);
      bucket.lock();
    }
    enter(me, mine.is_poisoned);
    mine.is_granted = false;
    bucket.unlock();
    return true;
  }
  bool is_over_for(unsigned me) {
    Waiter& mine = waiters[me];
    if (mine.is_granted) return true;
    if (mine.is_queued && queue[0] != me) return false;
    for (std::uint64_t seen = 0;;) {
      const bool have_others = mine.is_queued ? count > 1 : count != 0;
      const Found found = look(me, have_others, true, mine.is_queued || !have_others, seen);
      if (is_taken(found)) {
        if (mine.is_queued) take_out(me);
        see_to_front(bits_of(me));
        mine.is_poisoned = found == Found::kPoisoned;
        return true;
      }
      if (!mine.is_queued) {
        mine.is_queued = true;
        mine.lost = 0;
        mine.was_woken = false;
        queue[count++] = me;
      }
      if (mine.was_woken) ++mine.lost;
      mine.was_woken = false;
      if (queue[0] != me || watch(me, seen)) return false;
    }
  }
  void leave(unsigned me) {
    const bool was_first = queue[0] == me;
    take_out(me);
    if (!was_first || count == 0) return;
    if (waiters[me].was_woken)
      wake_front();
    else
      see_to_front(word.load());
  }

  void unlock(unsigned me) {
    std::uint64_t bits = bits_of(me);
    if (word.compare_exchange_strong(bits, 0)) return tell();
    if (janus::may_free(bits, bits_of(me)) && word.compare_exchange_strong(bits, janus::freed(bits))) return tell();
    {
      LockGuard guard(bucket);
      const bool is_first = count != 0;
      bits = word.load();
      const bool hands_over = is_first && (waiters[queue[0]].lost >= kPatience || janus::have_all_barged(bits));
      const std::uint64_t next = hands_over ? bits_of(queue[0]) : 0;
      std::uint64_t waiting = is_first ? HolderWord::kWaiters | (1 + kBarges) * HolderWord::kBarge : 0;
      if (hands_over) waiting = count > 1 ? HolderWord::kWaiters : 0;
      const std::uint64_t after = janus::unlocked(bits, next, waiting);
      require(word.compare_exchange_strong(bits, after), "while tasks wait the word changes under the bucket's lock");
      if (hands_over) {
        const unsigned next = queue[0];
        take_out(next);
        waiters[next].is_granted = true;
        waiters[next].is_poisoned = (after & HolderWord::kPoisoned) != 0;
        wake(next);
        see_to_front(after);
      } else if (is_first) {
        wake_front();
      }
    }
    tell();
  }
  // Tells those that give up, so that they do at every moment.
  void tell() {
    for (unsigned i = 0; i < tasks; ++i) {
      if (programs[i][0] != 'g') continue;
      is_told[i].store(1);
      wake(i);
    }
  }

  void end() { require(count == 0, "nobody waits"); }
};

bool goes_well(const char* name, unsigned tasks, const char* a, const char* b, const char* c = "") {
  return janus::model::goes_well<MutexWorld>(name, Fences::kNoneNeeded, tasks, a, b, c);
}

TEST(mutex_model, two_tasks) {
  REQUIRE(goes_well("each locks twice", 2, "ll", "ll"));
  REQUIRE(goes_well("one locks, the other tries", 2, "ll", "tl"));
}

TEST(mutex_model, one_gives_up) {
  REQUIRE(goes_well("of two", 2, "ll", "gl"));
  REQUIRE(goes_well("of three", 3, "l", "g", "l"));
}

TEST(mutex_model, one_ends_with_it) {
  REQUIRE(goes_well("of two", 2, "le", "ll"));
  REQUIRE(goes_well("while one gives up", 3, "e", "g", "l"));
}

TEST(mutex_model, three_tasks) {
  REQUIRE(goes_well("each locks once", 3, "l", "l", "l"));
}

TEST(mutex_model, one_of_two_is_passed) {
  REQUIRE(goes_well("by one that locks four times", 2, "llll", "l"));
}

TEST(mutex_model, one_of_three_is_passed) {
  REQUIRE(goes_well("by one that locks twice", 3, "ll", "l", "l"));
  REQUIRE(goes_well("by one that locks and one that tries", 3, "ll", "l", "tt"));
}

}  // namespace
