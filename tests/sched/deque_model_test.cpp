// SPDX-License-Identifier: Apache-2.0
// deque_model_test.cpp — every interleaving of an owner's short program with thieves at rt/sched/deque.h: each entry is
// taken once or still there, also while the ring grows. The steps are those of the code, one memory access each; each
// mistake that one might make with them is made once, and found.
#include "tests/sched/queue_model.h"

namespace {

enum class Mistake { kNone, kNoHeavyFence, kNoSecondLook, kNoPlaceLeftFree, kCopiesFromTop, kLeavesItsClaim };

constexpr int kMaxEntries = 4;
constexpr int kRings = 3, kPlaces[kRings] = {2, 4, 8}, kFirst[kRings] = {0, 2, 6};

enum Word { kBottom, kTop, kLock, kRing, kSlots, kTaken = kSlots + 14, kEnd = kTaken + kMaxEntries + 1 };

enum At {
  kNext,  // of the owner's program
  kLookForRoom,
  kWriteSlot,
  kMoveBottom,
  kLookAtTop,
  kClaim,
  kLookAgain,
  kTakeOwn,
  kLockContested,
  kDecide,
  kTakeContested,
  kGiveUp,
  kUnlock,
  kTryLockOldest,
  kReadOldest,
  kMoveTopOldest,
  kSteal,
  kTryLock,
  kReadTop,
  kReadBottom,
  kClaimTop,
  kFence,
  kCheck,
  kTakeStolen,
  kBackOff,
  kDone,
};

// 'p': push, 'o': pop, 't': take the oldest. Each thief tries `steals` times.
struct DequeProtocol {
  static constexpr unsigned kWords = kEnd, kThreads = 3;
  const char* program;
  int steals;
  unsigned thieves;
  Mistake mistake;

  // The owner's registers: where it is in its program, bottom, top_seen, how many it has pushed, the ring it uses.
  enum { kPc, kAtBottom, kTopSeen, kPushed, kUses, kSeen };
  // A thief's: attempts, top.
  enum { kTries, kOldTop };

  template <class Memory>
  void begin(Memory& memory) const {
    for (unsigned i = 1; i < kThreads; ++i) memory.threads[i].at = i <= thieves ? kSteal : kDone;
  }
  bool is_done(int at) const { return at == kDone; }

  static int slot(int ring, int index) { return kSlots + kFirst[ring] + (index + kPlaces[ring]) % kPlaces[ring]; }
  bool has_room(int used, int ring) const {
    return used < kPlaces[ring] - (mistake == Mistake::kNoPlaceLeftFree ? 0 : 1);
  }
  template <class Cpu>
  static void take(Cpu& cpu, int entry) {
    ++cpu.ghost(kTaken + entry);
  }

  template <class Cpu>
  bool step(Cpu& cpu) const {
    return cpu.thread() == 0 ? own(cpu) : rob(cpu);
  }

  template <class Cpu>
  bool own(Cpu& cpu) const {
    const int bottom = cpu.reg(kAtBottom);
    switch (cpu.at()) {
      case kNext: {
        const char what = program[cpu.reg(kPc)];
        if (what == 0) return cpu.go(kDone);
        ++cpu.reg(kPc);
        cpu.reg(kAtBottom) = static_cast<std::int8_t>(cpu.load(kBottom) - (what == 'o' ? 1 : 0));
        if (what == 'o') return cpu.go(kLookAtTop);
        if (what == 't') return cpu.go(kTryLockOldest);
        return cpu.go(has_room(cpu.reg(kAtBottom) - cpu.reg(kTopSeen), cpu.reg(kUses)) ? kWriteSlot : kLookForRoom);
      }
      case kLookForRoom: {
        const int top = cpu.load(kTop), old = cpu.reg(kUses);
        cpu.reg(kTopSeen) = static_cast<std::int8_t>(top);
        if (!has_room(bottom - top, old)) {
          for (int i = mistake == Mistake::kCopiesFromTop ? top : top - 1; i < bottom; ++i)
            cpu.store(slot(old + 1, i), cpu.load(slot(old, i)));
          cpu.store(kRing, old + 1);
          cpu.reg(kUses) = static_cast<std::int8_t>(old + 1);
        }
        return cpu.go(kWriteSlot);
      }
      case kWriteSlot:
        cpu.store(slot(cpu.reg(kUses), bottom), ++cpu.reg(kPushed));
        return cpu.go(kMoveBottom);
      case kMoveBottom:
        cpu.store(kBottom, bottom + 1);
        return cpu.go(kNext);
      case kLookAtTop:
        return cpu.go(cpu.load(kTop) > bottom ? kNext : kClaim);
      case kClaim:
        cpu.store(kBottom, bottom);
        return cpu.go(mistake == Mistake::kNoSecondLook ? kTakeOwn : kLookAgain);
      case kLookAgain:
        return cpu.go(cpu.load(kTop) > bottom ? kLockContested : kTakeOwn);
      case kTakeOwn:
        take(cpu, cpu.load(slot(cpu.reg(kUses), bottom)));
        return cpu.go(kNext);
      case kLockContested:
        return cpu.compare_exchange(kLock, 0, 1) && cpu.go(kDecide);
      case kDecide:
        return cpu.go(cpu.load(kTop) <= bottom ? kTakeContested : kGiveUp);
      case kTakeContested:
        take(cpu, cpu.load(slot(cpu.reg(kUses), bottom)));
        return cpu.go(kUnlock);
      case kGiveUp:
        cpu.store(kBottom, bottom + 1);
        return cpu.go(kUnlock);
      case kUnlock:
        cpu.store(kLock, 0);
        return cpu.go(kNext);
      case kTryLockOldest:
        return cpu.go(cpu.compare_exchange(kLock, 0, 1) ? kReadOldest : kNext);
      case kReadOldest:
        cpu.reg(kSeen) = static_cast<std::int8_t>(cpu.load(kTop));
        return cpu.go(cpu.reg(kSeen) < bottom ? kMoveTopOldest : kUnlock);
      case kMoveTopOldest:
        take(cpu, cpu.load(slot(cpu.reg(kUses), cpu.reg(kSeen))));
        cpu.store(kTop, cpu.reg(kSeen) + 1);
        return cpu.go(kUnlock);
      default:
        return false;
    }
  }

  template <class Cpu>
  bool rob(Cpu& cpu) const {
    const int top = cpu.reg(kOldTop);
    switch (cpu.at()) {
      case kSteal:
        return cpu.go(cpu.reg(kTries)++ == steals ? kDone : kTryLock);
      case kTryLock:
        return cpu.go(cpu.compare_exchange(kLock, 0, 1) ? kReadTop : kSteal);
      case kReadTop:
        cpu.reg(kOldTop) = static_cast<std::int8_t>(cpu.load(kTop));
        return cpu.go(kReadBottom);
      case kReadBottom:
        return cpu.go(top < cpu.load(kBottom) ? kClaimTop : kUnlock);
      case kClaimTop:
        cpu.store(kTop, top + 1);
        return cpu.go(mistake == Mistake::kNoHeavyFence ? kCheck : kFence);
      case kFence:
        cpu.heavy_fence();
        return cpu.go(kCheck);
      case kCheck:
        return cpu.go(top < cpu.load(kBottom) ? kTakeStolen : kBackOff);
      case kTakeStolen:
        take(cpu, cpu.load(slot(cpu.load(kRing), top)));
        return cpu.go(kUnlock);
      case kBackOff:
        if (mistake != Mistake::kLeavesItsClaim) cpu.store(kTop, top);
        return cpu.go(kUnlock);
      case kUnlock:
        cpu.store(kLock, 0);
        cpu.reg(kOldTop) = 0;
        return cpu.go(kSteal);
      default:
        return false;
    }
  }

  template <class Memory>
  bool is_good(const Memory& memory, bool all_done) const {
    std::int8_t found[kMaxEntries + 1];
    for (int entry = 0; entry <= kMaxEntries; ++entry) found[entry] = memory.words[kTaken + entry];
    if (all_done) {
      for (int i = memory.words[kTop]; i < memory.words[kBottom]; ++i)
        ++found[memory.words[slot(memory.words[kRing], i)]];
    }
    return janus::test::each_once<kMaxEntries>(found, memory.threads[0].registers[kPushed], all_done);
  }
};

bool goes_well(const char* program, unsigned thieves, int steals) {
  return janus::test::goes_well<DequeProtocol>(program, thieves, steals, Mistake::kNone);
}

constexpr const char* kPrograms[] = {"po",     "poo",    "pooppo", "ppoo",   "ppopoo", "popopo",
                                     "pppooo", "ptpoto", "pptoo",  "popppo", "ppppoo", "poptpo"};

TEST(deque_model, an_owner_and_a_thief) {
  for (const char* program : kPrograms) CHECK(goes_well(program, 1, 2));
}

TEST(deque_model, an_owner_and_two_thieves) {
  for (const char* program : kPrograms) CHECK(goes_well(program, 2, 1));
}

bool is_found(Mistake mistake) {
  return janus::test::is_found<DequeProtocol>(kPrograms, mistake);
}

TEST(deque_model, every_mistake_is_found) {
  CHECK(is_found(Mistake::kNoHeavyFence));
  CHECK(is_found(Mistake::kNoSecondLook));
  CHECK(is_found(Mistake::kNoPlaceLeftFree));
  CHECK(is_found(Mistake::kCopiesFromTop));
  CHECK(is_found(Mistake::kLeavesItsClaim));
}

}  // namespace
