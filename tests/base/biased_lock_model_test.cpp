// SPDX-License-Identifier: Apache-2.0
// biased_lock_model_test.cpp — every interleaving of a few turns at rt/base/biased_lock.h, on a machine with store
// buffers (x86-TSO): two never hold it, no store is lost, nobody sleeps for ever. The steps are those of the header,
// one memory access each; each mistake that one might make with them is made once, and found.
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_set>
#include <vector>

#include "tests/harness/test.h"

namespace {

constexpr unsigned kMost = 3;    // threads
constexpr unsigned kBuffer = 4;  // stores that one can have under way
constexpr std::uint8_t kNone = 0;

enum Word : std::uint8_t { kOwner, kLock, kDepartures, kData, kHolds, kWords = kHolds + kMost };

enum class At : std::uint8_t {
  kBegin,
  kAnnounce,
  kLookAgain,
  kBackOff,
  kTakeLock,
  kSeeOwner,
  kRevoke,
  kHeavyFence,
  kReadDepartures,
  kLookAtHolder,
  kGoToSleep,
  kAsleep,
  kCount,
  kRead,
  kWrite,
  kLeave,
  kSeeRevoker,
  kDepart,
  kForget,
  kUnlockPlain,
  kDone,
};

enum class Mistake {
  kNone,
  kNoHeavyFence,
  kNoSecondLook,
  kOneWordForAll,
  kNoDeparture,
  kSleepOnAnything,
  kForgetFirst
};

struct Thread {
  At at;
  std::uint8_t turns;     // left
  std::uint8_t is_plain;  // holds lock_ rather than being owner
  std::uint8_t other;     // whom it revoked
  std::uint8_t seen;      // departures, or the data
  std::uint8_t woken;
  std::uint8_t stores;
  struct {
    std::uint8_t word, value;
  } buffer[kBuffer];
};

struct State {
  std::uint8_t words[kWords];
  Thread threads[kMost];
};

// What each thread is: may become owner; comes by chance (as guest); ends each turn for good.
struct Kind {
  std::uint8_t turns;
  bool may_own, counts, forgets;
};

class Explorer {
 public:
  Explorer(std::vector<Kind> kinds, Mistake mistake) : kinds_(std::move(kinds)), mistake_(mistake) {}

  // Whether all goes well in every order.
  bool run() {
    State first;
    std::memset(&first, 0, sizeof first);
    first.words[kOwner] = 1;  // the first thread's, to begin with
    for (unsigned i = 0; i < kinds_.size(); ++i) {
      first.threads[i].turns = kinds_[i].turns;
      total_ += kinds_[i].turns;
    }
    for (unsigned i = static_cast<unsigned>(kinds_.size()); i < kMost; ++i) first.threads[i].at = At::kDone;
    visit(first);
    while (good_ && !left_.empty()) {
      const State state = left_.back();
      left_.pop_back();
      go_on(state);
    }
    return good_;
  }
  std::size_t states() const { return known_.size(); }

 private:
  void visit(const State& state) {
    if (known_.emplace(reinterpret_cast<const char*>(&state), sizeof state).second) left_.push_back(state);
  }

  void go_on(const State& state) {
    bool moved = false, done = true;
    unsigned inside = 0;
    for (unsigned i = 0; i < kMost; ++i) {
      const Thread& thread = state.threads[i];
      done &= thread.at == At::kDone && thread.stores == 0;
      inside += thread.at == At::kRead || thread.at == At::kWrite;
      if (thread.stores != 0) {
        State next = state;
        drain_one(next, i);
        visit(next);
        moved = true;
      }
      moved |= step(state, i);
    }
    good_ &= inside <= 1 && (moved || done) && (!done || state.words[kData] == total_);
  }

  // --- The machine ---

  static void drain_one(State& state, unsigned i) {
    Thread& thread = state.threads[i];
    state.words[thread.buffer[0].word] = thread.buffer[0].value;
    --thread.stores;
    std::memmove(thread.buffer, thread.buffer + 1, sizeof thread.buffer - sizeof thread.buffer[0]);
    thread.buffer[kBuffer - 1] = {0, 0};
  }
  static void drain(State& state, unsigned i) {
    while (state.threads[i].stores != 0) drain_one(state, i);
  }
  static std::uint8_t load(const State& state, unsigned i, std::uint8_t word) {
    const Thread& thread = state.threads[i];
    for (unsigned k = thread.stores; k-- > 0;)
      if (thread.buffer[k].word == word) return thread.buffer[k].value;
    return state.words[word];
  }
  static void store(State& state, unsigned i, std::uint8_t word, std::uint8_t value) {
    Thread& thread = state.threads[i];
    if (thread.stores == kBuffer) drain_one(state, i);
    thread.buffer[thread.stores++] = {word, value};
  }
  static void wake_all(State& state) {
    for (Thread& thread : state.threads)
      if (thread.at == At::kAsleep) thread.woken = 1;
  }

  // --- The lock: one step of thread `i`; false: it cannot move ---

  std::uint8_t holds_of(unsigned owner) const {
    return static_cast<std::uint8_t>(mistake_ == Mistake::kOneWordForAll ? 0 + kHolds : kHolds + owner - 1);
  }

  bool step(const State& state, unsigned i) {
    State next = state;
    Thread& me = next.threads[i];
    const std::uint8_t id = kinds_.size() > i && kinds_[i].may_own ? static_cast<std::uint8_t>(i + 1) : kMost + 1;
    const auto go = [&](At at) {
      next.threads[i].at = at;
      visit(next);
      return true;
    };
    switch (me.at) {
      case At::kDone:
        return false;
      case At::kBegin:
        if (me.turns == 0) return go(At::kDone);
        --me.turns;
        return go(load(next, i, kOwner) == id ? At::kAnnounce : At::kTakeLock);
      case At::kAnnounce:
        store(next, i, holds_of(id), 1);
        me.is_plain = 0;
        return go(mistake_ == Mistake::kNoSecondLook ? At::kRead : At::kLookAgain);
      case At::kLookAgain:
        return go(load(next, i, kOwner) == id ? At::kRead : At::kBackOff);
      case At::kBackOff:
        store(next, i, holds_of(id), 0);
        drain(next, i);  // departures += 1 is a locked instruction
        me.is_plain = 1;
        return go(At::kDepart);
      case At::kTakeLock:
        drain(next, i);
        if (next.words[kLock] != 0) return false;
        next.words[kLock] = 1;
        me.is_plain = 1;
        return go(At::kSeeOwner);
      case At::kSeeOwner:
        me.other = load(next, i, kOwner);
        return go(me.other == kNone ? At::kCount : At::kRevoke);
      case At::kRevoke:
        store(next, i, kOwner, kNone);
        return go(mistake_ == Mistake::kNoHeavyFence ? At::kReadDepartures : At::kHeavyFence);
      case At::kHeavyFence:
        for (unsigned k = 0; k < kMost; ++k) drain(next, k);
        return go(At::kReadDepartures);
      case At::kReadDepartures:
        me.seen = load(next, i, kDepartures);
        return go(At::kLookAtHolder);
      case At::kLookAtHolder:
        return go(load(next, i, holds_of(me.other)) == 0 ? At::kCount : At::kGoToSleep);
      case At::kGoToSleep:
        if (mistake_ != Mistake::kSleepOnAnything && load(next, i, kDepartures) != me.seen)
          return go(At::kReadDepartures);
        me.woken = 0;
        return go(At::kAsleep);
      case At::kAsleep:
        return me.woken != 0 && go(At::kReadDepartures);
      case At::kCount: {
        me.other = me.seen = 0;
        (void)go(At::kRead);
        if (!kinds_[i].may_own || !kinds_[i].counts) return true;
        store(next, i, kOwner, id);
        return go(At::kRead);
      }
      case At::kRead:
        me.seen = load(next, i, kData);
        return go(At::kWrite);
      case At::kWrite:
        store(next, i, kData, static_cast<std::uint8_t>(me.seen + 1));
        me.seen = 0;
        if (me.is_plain != 0) return go(At::kUnlockPlain);
        return go(kinds_[i].forgets && mistake_ == Mistake::kForgetFirst ? At::kForget : At::kLeave);
      case At::kUnlockPlain:
        if (kinds_[i].forgets) store(next, i, kOwner, kNone);
        store(next, i, kLock, 0);
        me.is_plain = 0;
        return go(At::kBegin);
      case At::kLeave:
        store(next, i, holds_of(id), 0);
        if (mistake_ == Mistake::kForgetFirst && kinds_[i].forgets) return go(At::kBegin);
        return go(kinds_[i].forgets ? At::kForget : At::kSeeRevoker);
      case At::kSeeRevoker:
        return go(load(next, i, kOwner) == id || mistake_ == Mistake::kNoDeparture ? At::kBegin : At::kDepart);
      case At::kForget:  // a compare-and-swap; as a mistake, before it has left
        drain(next, i);
        if (next.words[kOwner] == id) {
          next.words[kOwner] = kNone;
          return go(mistake_ == Mistake::kForgetFirst ? At::kLeave : At::kBegin);
        }
        return go(mistake_ == Mistake::kForgetFirst ? At::kLeave : At::kDepart);
      case At::kDepart:
        drain(next, i);
        ++next.words[kDepartures];
        wake_all(next);
        return go(me.is_plain != 0 ? At::kTakeLock : At::kBegin);
    }
    return false;
  }

  std::vector<Kind> kinds_;
  Mistake mistake_;
  std::unordered_set<std::string> known_;
  std::vector<State> left_;
  std::uint8_t total_ = 0;
  bool good_ = true;
};

constexpr Kind kWorker{2, true, true, false}, kWorkerOnce{1, true, true, false}, kOutsider{1, false, false, false},
    kGuest{1, true, false, false}, kLast{2, true, true, true};

bool goes_well(std::vector<Kind> kinds, Mistake mistake = Mistake::kNone) {
  Explorer explorer(std::move(kinds), mistake);
  const bool good = explorer.run();
  janus::test::note("states", explorer.states());
  return good;
}

TEST(biased_lock_model, two_workers_that_take_it_from_each_other) {
  CHECK(goes_well({{3, true, true, false}, {3, true, true, false}}));
}

TEST(biased_lock_model, an_owner_and_two_who_revoke) {
  CHECK(goes_well({kWorker, kWorkerOnce, kWorkerOnce}));
  CHECK(goes_well({kWorker, kOutsider, kOutsider}));
}

TEST(biased_lock_model, one_who_becomes_owner_between_two_looks_of_the_last) {
  CHECK(goes_well({kWorker, kWorker, kOutsider}));
}

TEST(biased_lock_model, a_guest_and_one_who_gives_it_up_for_good) {
  CHECK(goes_well({kLast, kGuest, kWorkerOnce}));
  CHECK(goes_well({kLast, kLast}));
}

TEST(biased_lock_model, every_mistake_is_found) {
  CHECK(!goes_well({kWorker, kOutsider}, Mistake::kNoHeavyFence));
  CHECK(!goes_well({kWorker, kOutsider}, Mistake::kNoSecondLook));
  CHECK(!goes_well({kWorker, kWorker, kOutsider}, Mistake::kOneWordForAll));
  CHECK(!goes_well({kWorker, kOutsider}, Mistake::kNoDeparture));
  CHECK(!goes_well({kWorker, kOutsider}, Mistake::kSleepOnAnything));
  CHECK(!goes_well({kLast, kOutsider}, Mistake::kForgetFirst));
}

}  // namespace
