// SPDX-License-Identifier: Apache-2.0
// yield_queue_model_test.cpp — every interleaving of an owner's short program with thieves at rt/sched/yield_queue.h:
// each entry is taken once or still there, and the owner takes what is left in the order of its pushes. The steps are
// those of the code, one memory access each; each mistake that one might make with them is made once, and found.
#include "tests/sched/queue_model.h"

namespace {

enum class Mistake { kNone, kNoHeavyFence, kNoSecondLook, kNoLockToLeap, kTakesTheLimitItself };

constexpr int kMaxEntries = 5, kPlaces = 4, kNoLimit = 100;

enum Word { kHead, kTail, kLimit, kGapEnd, kLock, kSlots, kTaken = kSlots + kPlaces, kEnd = kTaken + kMaxEntries + 1 };

enum At {
  kNext,
  kLookAtTail,
  kClaim,
  kLookAtLimit,
  kTakeOwn,
  kLockContested,
  kDecide,
  kReadGapEnd,
  kCloseGap,
  kLeap,
  kWriteSlot,
  kMoveTail,
  kUnlock,
  kSteal,
  kTryLock,
  kReadTail,
  kReadHead,
  kReadLimit,
  kReadGap,
  kOpenGap,
  kSetLimit,
  kFence,
  kCheck,
  kBackOff,
  kWiden,
  kDone,
};

// 'p': push, 't': take, 'y': take, and put behind the last what was taken. Each thief tries `steals` times.
struct YieldQueueProtocol {
  static constexpr unsigned kWords = kEnd, kThreads = 3;
  const char* program;
  int steals;
  unsigned thieves;
  Mistake mistake;

  enum { kPc, kAtHead, kPushed, kHolds, kLast, kNextOne };        // the owner's registers
  enum { kTries, kSeenTail, kSeenHead, kSeenLimit, kFrom, kTo };  // a thief's

  template <class Memory>
  void begin(Memory& memory) const {
    memory.words[kLimit] = kNoLimit;
    for (unsigned i = 1; i < kThreads; ++i) memory.threads[i].at = i <= thieves ? kSteal : kDone;
  }
  bool is_done(int at) const { return at == kDone; }
  static int slot(int index) { return kSlots + index % kPlaces; }
  static int half(int ready) { return (ready + 1) / 2; }

  template <class Cpu>
  bool step(Cpu& cpu) const {
    return cpu.thread() == 0 ? own(cpu) : rob(cpu);
  }

  // After a take: what was taken runs, or goes behind the others.
  template <class Cpu>
  bool has_taken(Cpu& cpu, int index, int then) const {
    const int entry = cpu.load(slot(index));
    if (program[cpu.reg(kPc) - 1] == 'y') {
      cpu.reg(kHolds) = static_cast<std::int8_t>(entry);
      return cpu.go(then == kNext ? kWriteSlot : then);
    }
    ++cpu.ghost(kTaken + entry);
    return cpu.go(then);
  }

  template <class Cpu>
  bool own(Cpu& cpu) const {
    const int head = cpu.reg(kAtHead);
    switch (cpu.at()) {
      case kNext: {
        const char what = program[cpu.reg(kPc)];
        if (what == 0) return cpu.go(kDone);
        ++cpu.reg(kPc);
        cpu.reg(kAtHead) = static_cast<std::int8_t>(cpu.load(kHead));
        if (what != 'p') return cpu.go(kLookAtTail);
        if (cpu.load(kTail) - cpu.reg(kAtHead) == kPlaces) return cpu.go(kNext);  // full, and growing is under the lock
        cpu.reg(kHolds) = ++cpu.reg(kPushed);
        return cpu.go(kWriteSlot);
      }
      case kLookAtTail:
        return cpu.go(head == cpu.load(kTail) ? kNext : kClaim);
      case kClaim:
        cpu.store(kHead, head + 1);
        return cpu.go(mistake == Mistake::kNoSecondLook ? kTakeOwn : kLookAtLimit);
      case kLookAtLimit:
        if (head < cpu.load(kLimit)) return cpu.go(kTakeOwn);
        return cpu.go(mistake == Mistake::kNoLockToLeap ? kDecide : kLockContested);
      case kTakeOwn:
        return has_taken(cpu, head, kNext);
      case kLockContested:
        return cpu.compare_exchange(kLock, 0, 1) && cpu.go(kDecide);
      case kDecide:
        return head < cpu.load(kLimit) ? has_taken(cpu, head, kUnlock) : cpu.go(kReadGapEnd);
      case kReadGapEnd:
        cpu.reg(kNextOne) = static_cast<std::int8_t>(cpu.load(kGapEnd));
        return cpu.go(kCloseGap);
      case kCloseGap:
        cpu.store(kLimit, kNoLimit);
        return cpu.go(kLeap);
      case kLeap: {
        const int next = cpu.reg(kNextOne);
        const bool is_empty = next == cpu.load(kTail);
        cpu.store(kHead, is_empty ? next : next + 1);
        return is_empty ? cpu.go(kUnlock) : has_taken(cpu, next, kUnlock);
      }
      case kUnlock:
        if (mistake != Mistake::kNoLockToLeap) cpu.store(kLock, 0);
        return cpu.go(cpu.reg(kHolds) != 0 ? kWriteSlot : kNext);
      case kWriteSlot:
        cpu.store(slot(cpu.load(kTail)), cpu.reg(kHolds));
        cpu.reg(kHolds) = 0;
        return cpu.go(kMoveTail);
      case kMoveTail:
        cpu.store(kTail, cpu.load(kTail) + 1);
        return cpu.go(kNext);
      default:
        return false;
    }
  }

  template <class Cpu>
  static void take_all(Cpu& cpu, int from, int to) {
    for (int i = from; i < to; ++i) ++cpu.ghost(kTaken + cpu.load(slot(i)));
  }
  template <class Cpu>
  static bool wants(Cpu& cpu, int from, int to, int then) {
    cpu.reg(kFrom) = static_cast<std::int8_t>(from);
    cpu.reg(kTo) = static_cast<std::int8_t>(to);
    return cpu.go(from < to ? then : static_cast<int>(kUnlock));
  }

  template <class Cpu>
  bool rob(Cpu& cpu) const {
    const int tail = cpu.reg(kSeenTail), head = cpu.reg(kSeenHead), limit = cpu.reg(kSeenLimit);
    switch (cpu.at()) {
      case kSteal:
        return cpu.go(cpu.reg(kTries)++ == steals ? kDone : kTryLock);
      case kTryLock:
        return cpu.go(cpu.compare_exchange(kLock, 0, 1) ? kReadTail : kSteal);
      case kReadTail:
        cpu.reg(kSeenTail) = static_cast<std::int8_t>(cpu.load(kTail));
        return cpu.go(kReadHead);
      case kReadHead:
        cpu.reg(kSeenHead) = static_cast<std::int8_t>(cpu.load(kHead));
        return cpu.go(kReadLimit);
      case kReadLimit:
        cpu.reg(kSeenLimit) = static_cast<std::int8_t>(cpu.load(kLimit));
        if (cpu.reg(kSeenLimit) != kNoLimit) return cpu.go(kReadGap);
        return wants(cpu, tail - half(tail - head), tail, kOpenGap);
      case kReadGap: {
        const int gap_end = cpu.load(kGapEnd);
        if (tail > gap_end) return wants(cpu, gap_end, gap_end + half(tail - gap_end), kWiden);
        return wants(cpu, limit - half(limit - head), limit, kSetLimit);
      }
      case kWiden:
        take_all(cpu, cpu.reg(kFrom), cpu.reg(kTo));
        cpu.store(kGapEnd, cpu.reg(kTo));
        return cpu.go(kUnlock);
      case kOpenGap:
        cpu.store(kGapEnd, tail);
        return cpu.go(kSetLimit);
      case kSetLimit:
        cpu.store(kLimit, cpu.reg(kFrom));
        return cpu.go(mistake == Mistake::kNoHeavyFence ? kCheck : kFence);
      case kFence:
        cpu.heavy_fence();
        return cpu.go(kCheck);
      case kCheck: {
        const int now = cpu.load(kHead);
        if (now > cpu.reg(kFrom) + (mistake == Mistake::kTakesTheLimitItself ? 1 : 0)) return cpu.go(kBackOff);
        take_all(cpu, cpu.reg(kFrom), cpu.reg(kTo));
        return cpu.go(kUnlock);
      }
      case kBackOff:
        cpu.store(kLimit, limit);
        return cpu.go(kUnlock);
      case kUnlock:
        cpu.store(kLock, 0);
        for (int r = kSeenTail; r <= kTo; ++r) cpu.reg(static_cast<unsigned>(r)) = 0;
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
      const int limit = memory.words[kLimit];
      for (int i = memory.words[kHead]; i < memory.words[kTail]; ++i) {
        if (limit == kNoLimit || i < limit || i >= memory.words[kGapEnd]) ++found[memory.words[slot(i)]];
      }
    }
    return janus::test::each_once<kMaxEntries>(found, memory.threads[0].registers[kPushed], all_done);
  }
};

bool goes_well(const char* program, unsigned thieves, int steals) {
  return janus::test::goes_well<YieldQueueProtocol>(program, thieves, steals, Mistake::kNone);
}

constexpr const char* kPrograms[] = {"pt",    "pptt",   "ppyt",   "pppttt", "pptptt",
                                     "ppyyt", "pppytt", "pppptt", "ptptpt", "pyyt"};

TEST(yield_queue_model, an_owner_and_a_thief) {
  for (const char* program : kPrograms) CHECK(goes_well(program, 1, 3));
}

TEST(yield_queue_model, an_owner_and_two_thieves) {
  for (const char* program : kPrograms) CHECK(goes_well(program, 2, 1));
}

bool is_found(Mistake mistake) {
  return janus::test::is_found<YieldQueueProtocol>(kPrograms, mistake);
}

TEST(yield_queue_model, every_mistake_is_found) {
  CHECK(is_found(Mistake::kNoHeavyFence));
  CHECK(is_found(Mistake::kNoSecondLook));
  CHECK(is_found(Mistake::kNoLockToLeap));
  CHECK(is_found(Mistake::kTakesTheLimitItself));
}

}  // namespace
