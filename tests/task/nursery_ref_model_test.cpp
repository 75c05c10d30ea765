// SPDX-License-Identifier: Apache-2.0
// nursery_ref_model_test.cpp — every interleaving of an owner that ends its nursery, and opens the next one in the same
// record, with external_refs from elsewhere that spawn into it (rt/task/nursery.h, NurseryRef): who is welcome changes
// the nursery that welcomed it, which does not end before its child, and the record is clean when it serves the next.
// One memory access a step; each mistake that one might make is made once, and found.
#include "tests/harness/interleavings.h"
#include "tests/harness/test.h"

namespace {

enum class Mistake {
  kNone,
  kNoHeavyFence,
  kDoesNotLookForVisitors,
  kDoesNotWaitForVisitors,
  kCleansLazily,
  kNoLookAtTheWord
};

enum Word { kAlive, kVisitors, kCount, kGeneration, kWrong, kEnd };
enum Life { kGone, kWelcomes, kEnding };             // what kAlive says
constexpr int kClosed = 1, kShared = 4, kChild = 8;  // in kCount
constexpr int kGenerations = 2;

enum At {
  kOpen,
  kSetEnding,
  kSeeVisitors,
  kSeeWord,
  kEndPlainly,
  kComeBack,
  kShare,
  kAwait,
  kLayToRest,
  kRestFence,
  kAwaitVisitors,
  kClean,
  kAnnounce,
  kSeeShared,
  kFence,
  kSeeAlive,
  kCountIn,
  kLeave,
  kEndChild,
  kComeAgain,
  kGoAway,
  kDone,
};

struct VisitProtocol {
  static constexpr unsigned kWords = kEnd, kThreads = 3;
  unsigned external_refs;
  Mistake mistake;

  enum { kOpened };               // the owner's register
  enum { kWelcomed, kHasChild };  // a visitor's

  template <class Memory>
  void begin(Memory& memory) const {
    for (unsigned i = 1; i < kThreads; ++i) memory.threads[i].at = i <= external_refs ? kAnnounce : kDone;
  }
  bool is_done(int at) const { return at == kDone; }

  template <class Cpu>
  bool step(Cpu& cpu) const {
    return cpu.thread() == 0 ? own(cpu) : visit(cpu);
  }

  template <class Cpu>
  bool own(Cpu& cpu) const {
    switch (cpu.at()) {
      case kOpen:
        if (cpu.reg(kOpened)++ == kGenerations) return cpu.go(kDone);
        cpu.ghost(kWrong) |= cpu.load(kCount) != 0;
        cpu.store(kAlive, kWelcomes);
        return cpu.go(kSetEnding);
      case kSetEnding:
        cpu.store(kAlive, kEnding);
        return cpu.go(mistake == Mistake::kDoesNotLookForVisitors ? kSeeWord : kSeeVisitors);
      case kSeeVisitors:
        return cpu.go(cpu.load(kVisitors) != 0               ? kComeBack
                      : mistake == Mistake::kNoLookAtTheWord ? kEndPlainly
                                                             : kSeeWord);
      case kSeeWord:
        return cpu.go(cpu.load(kCount) != 0 ? kComeBack : kEndPlainly);
      case kEndPlainly:
        ++cpu.ghost(kGeneration);
        cpu.store(kAlive, kGone);
        return cpu.go(kOpen);
      case kComeBack:
        cpu.store(kAlive, kWelcomes);
        return cpu.go(kShare);
      case kShare:  // a loop of compare-and-swap
        (void)cpu.add(kCount, kShared + kClosed);
        return cpu.go(kAwait);
      case kAwait:
        return cpu.load(kCount) < kChild && cpu.go(kLayToRest);
      case kLayToRest:
        ++cpu.ghost(kGeneration);
        cpu.store(kAlive, kGone);
        return cpu.go(kRestFence);
      case kRestFence:
        cpu.fence();
        return cpu.go(mistake == Mistake::kDoesNotWaitForVisitors ? kClean : kAwaitVisitors);
      case kAwaitVisitors:
        return cpu.load(kVisitors) == 0 && cpu.go(kClean);
      case kClean:
        cpu.store(kCount, 0);
        if (mistake != Mistake::kCleansLazily) cpu.fence();  // it is an exchange
        return cpu.go(kOpen);
      default:
        return false;
    }
  }

  template <class Cpu>
  bool visit(Cpu& cpu) const {
    const auto is_same = [&] { return cpu.ghost(kGeneration) == cpu.reg(kWelcomed); };
    switch (cpu.at()) {
      case kAnnounce:
        (void)cpu.add(kVisitors, 1);
        return cpu.go(kSeeShared);
      case kSeeShared:
        return cpu.go((cpu.load(kCount) & kShared) != 0 || mistake == Mistake::kNoHeavyFence ? kSeeAlive : kFence);
      case kFence:
        cpu.heavy_fence();
        return cpu.go(kSeeAlive);
      case kSeeAlive: {
        const int life = cpu.load(kAlive);
        cpu.reg(kWelcomed) = cpu.ghost(kGeneration);
        return cpu.go(life == kWelcomes ? kCountIn : life == kEnding ? kComeAgain : kGoAway);
      }
      case kCountIn: {  // a compare-and-swap that sees whether it is closed
        cpu.fence();
        if ((cpu.load(kCount) & kClosed) != 0) return cpu.go(kGoAway);
        (void)cpu.add(kCount, kChild);
        cpu.ghost(kWrong) |= !is_same();
        return cpu.go(kLeave);
      }
      case kLeave:
        (void)cpu.add(kVisitors, -1);
        return cpu.go(kEndChild);
      case kEndChild:
        (void)cpu.add(kCount, -kChild);
        cpu.ghost(kWrong) |= !is_same();
        return cpu.go(kDone);
      case kComeAgain:
        (void)cpu.add(kVisitors, -1);
        return cpu.go(kAnnounce);
      case kGoAway:
        (void)cpu.add(kVisitors, -1);
        return cpu.go(kDone);
      default:
        return false;
    }
  }

  template <class Memory>
  bool is_good(const Memory& memory, bool all_done) const {
    return memory.words[kWrong] == 0 && (!all_done || memory.words[kCount] == 0);
  }
};

bool goes_well(unsigned external_refs, Mistake mistake = Mistake::kNone) {
  janus::test::Interleavings<VisitProtocol> all(VisitProtocol{external_refs, mistake});
  const bool good = all.all_good();
  janus::test::note("states", all.states());
  return good;
}

TEST(visit_model, one_visitor) {
  CHECK(goes_well(1));
}

TEST(visit_model, two_visitors) {
  CHECK(goes_well(2));
}

TEST(visit_model, every_mistake_is_found) {
  CHECK(!goes_well(1, Mistake::kNoHeavyFence));
  CHECK(!goes_well(1, Mistake::kDoesNotLookForVisitors));
  CHECK(!goes_well(2, Mistake::kDoesNotWaitForVisitors));
  CHECK(!goes_well(1, Mistake::kCleansLazily));
  CHECK(!goes_well(1, Mistake::kNoLookAtTheWord));
}

}  // namespace
