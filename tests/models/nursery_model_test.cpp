// SPDX-License-Identifier: Apache-2.0
// nursery_model_test.cpp — every interleaving of an owner that ends its nursery, and opens the next one in the same
// record, with visitors that spawn into it, close it or cancel it (rt/task/record/nursery_life.h): a valid visitor
// changes the nursery that it found, which does not end before the visitor's child, nor before a cancel has reached the
// children; the thread that ends the nursery wakes the owner; and the record is clean when it serves the next. The
// owner sleeps and is woken as by wait_for_children() and wake().
#include "rt/task/record/nursery_life.h"

#include "tests/harness/test.h"
#include "tests/models/explorer.h"

namespace {

using janus::NurseryLife;
using janus::NurseryWord;
using janus::model::Fences;
using janus::model::require;

// One letter for each visitor: 's' spawns a child, which ends later; 'c' closes; 'x' cancels.
struct NurseryWorld {
  const char* visitors;
  unsigned generations;
  janus::Atomic<std::uint64_t> word{0};
  janus::Atomic<std::uint32_t> alive{0}, external_refs{0};
  enum : std::uint32_t { kRunning, kBlocked, kReady };
  janus::Atomic<std::uint32_t> owner{kRunning};
  std::uint32_t generation = 0;  // of the record: incremented when the next nursery may have it
  bool is_open = false;          // the nursery may have children

  NurseryLife life() { return {word, alive, external_refs}; }
  unsigned threads() const { return 1 + (visitors[1] == '\0' ? 1 : visitors[2] == '\0' ? 2 : 3); }
  void begin() {}

  void run(unsigned thread) {
    if (thread == 0) {
      for (unsigned i = 0; i < generations; ++i) open_and_await();
    } else if (visitors[thread - 1] == 's') {
      spawn();
    } else if (visitors[thread - 1] == 'c') {
      close();
    } else {
      cancel();
    }
  }

  void open_and_await() {
    require(word.load(std::memory_order_relaxed) == 0, "the record is clean");
    is_open = true;
    alive.store(NurseryLife::kAlive, std::memory_order_release);
    alive.store(NurseryLife::kClosing, std::memory_order_release);
    if (life().end_alone()) {
      is_open = false;
      ++generation;
      alive.store(0, std::memory_order_relaxed);
      return;
    }
    alive.store(NurseryLife::kClosing, std::memory_order_release);
    const std::uint64_t flags = NurseryWord::kClosed | NurseryWord::kWaiter;
    if (!NurseryWord::is_terminal(life().share(0, flags))) wait_for_children();
    is_open = false;
    life().reset();
    ++generation;
  }

  void wait_for_children() {
    while (!NurseryWord::is_terminal(word.load(std::memory_order_acquire))) {
      owner.store(kBlocked, std::memory_order_release);
      janus::full_fence();
      if (NurseryWord::is_terminal(word.load(std::memory_order_acquire))) wake_owner();
      while (owner.load(std::memory_order_acquire) == kBlocked)
        janus::platform::wait(owner, kBlocked, janus::platform::kForever);
      owner.store(kRunning, std::memory_order_relaxed);
    }
  }
  void wake_owner() {
    std::uint32_t from = kBlocked;
    if (owner.compare_exchange_strong(from, kReady)) janus::platform::wake(owner, 1);
  }
  void end_child() {
    require(is_open, "a nursery does not end before its child");
    if (life().count_out()) wake_owner();
  }

  void spawn() {
    if (NurseryLife::is_closing(alive.load(std::memory_order_acquire))) return;
    const std::uint64_t seen = word.load(std::memory_order_relaxed);
    if (!life().visit()) return;
    const std::uint32_t welcomed = generation;
    const bool is_counted = life().count_in(seen);
    if (is_counted) require(is_open && generation == welcomed, "a child is counted where it was welcome");
    life().leave();
    if (!is_counted) return;
    require(generation == welcomed, "a nursery does not end before its child");
    end_child();
  }

  void cancel() {
    if (!life().visit()) return;
    const std::uint32_t welcomed = generation;
    const bool is_first = life().cancel();
    if (is_first) require(is_open && generation == welcomed, "who is welcome cancels the nursery that it found");
    life().leave();
    if (!is_first) return;
    require(generation == welcomed, "a nursery does not end before it is told");
    end_child();
  }

  void close() {
    if (!life().visit()) return;
    const std::uint32_t welcomed = generation;
    life().close();
    require(generation == welcomed, "who is welcome closes the nursery that it found");
    life().leave();
  }

  void end() {
    require(word.load() == 0 && external_refs.load() == 0 && alive.load() == 0, "the record is clean in the end");
    require(generation == generations, "each has ended once");
  }
};

bool goes_well(const char* visitors, unsigned generations) {
  return janus::model::goes_well<NurseryWorld>(visitors, Fences::kHeavy, visitors, generations);
}

TEST(nursery_model, one_visitor) {
  REQUIRE(goes_well("s", 2));
  REQUIRE(goes_well("c", 2));
  REQUIRE(goes_well("x", 2));
  REQUIRE(goes_well("s", 3));
  REQUIRE(goes_well("x", 3));
}

TEST(nursery_model, two_visitors) {
  REQUIRE(goes_well("ss", 2));
  REQUIRE(goes_well("sc", 2));
  REQUIRE(goes_well("cc", 2));
  REQUIRE(goes_well("sx", 2));
  REQUIRE(goes_well("cx", 2));
  REQUIRE(goes_well("xx", 2));
}

// An owner that waits for any end of its children (rt/task/nurseries/next_ended.cpp), all of which are counted already.
// One letter for each: 'r' leaves a record before it is counted out, 'd' does not; 'w' leaves one, and does not end before
// the owner was told of another.
struct NextWorld {
  const char* children;
  janus::Atomic<std::uint64_t> word{0};
  janus::Atomic<std::uint32_t> alive{NurseryLife::kAlive}, external_refs{0};
  enum : std::uint32_t { kRunning, kBlocked, kReady };
  janus::Atomic<std::uint32_t> owner{kRunning};
  janus::Atomic<std::uint32_t> is_recorded[2] = {{0}, {0}};
  bool is_told[2] = {};
  janus::Atomic<std::uint32_t> is_any_told{0};
  unsigned records = 0, told = 0;

  NurseryLife life() { return {word, alive, external_refs}; }
  unsigned threads() const { return children[1] == '\0' ? 2 : 3; }
  void begin() {
    word.store((threads() - 1) * NurseryWord::kChild | NurseryWord::kShared, std::memory_order_relaxed);
    for (const char* each = children; *each != '\0'; ++each) records += *each != 'd' ? 1 : 0;
  }

  void run(unsigned thread) {
    if (thread == 0) return be_told();
    const bool has_record = children[thread - 1] != 'd';
    if (children[thread - 1] == 'w')
      while (is_any_told.load(std::memory_order_acquire) == 0)
        janus::platform::wait(is_any_told, 0, janus::platform::kForever);
    if (has_record) is_recorded[thread - 1].store(1, std::memory_order_relaxed);
    if (has_record ? life().count_out<true>() : life().count_out()) wake_owner();
  }
  bool has_children() { return word.load(std::memory_order_acquire) >= NurseryWord::kChild; }
  int untold() {
    for (int i = 0; i < 2; ++i)
      if (!is_told[i] && is_recorded[i].load(std::memory_order_relaxed) != 0) return i;
    return -1;
  }
  bool has_come() { return untold() >= 0 || !has_children(); }

  void be_told() {
    for (;;) {
      const bool was_last = !has_children();
      if (const int next = untold(); next >= 0) {
        is_told[next] = true;
        ++told;
        is_any_told.store(1, std::memory_order_release);
        janus::platform::wake(is_any_told, 1);
        continue;
      }
      if (was_last) return;
      constexpr std::uint64_t kWaitsForAny = NurseryWord::kWaiter | NurseryWord::kAnyEnd;
      word.fetch_or(kWaitsForAny, std::memory_order_acq_rel);
      while (!has_come()) {
        owner.store(kBlocked, std::memory_order_release);
        janus::full_fence();
        if (has_come()) wake_owner();
        while (owner.load(std::memory_order_acquire) == kBlocked)
          janus::platform::wait(owner, kBlocked, janus::platform::kForever);
        owner.store(kRunning, std::memory_order_relaxed);
      }
      word.fetch_and(~kWaitsForAny, std::memory_order_relaxed);
    }
  }
  void wake_owner() {
    std::uint32_t from = kBlocked;
    if (owner.compare_exchange_strong(from, kReady)) janus::platform::wake(owner, 1);
  }
  void end() { require(told == records && untold() < 0, "each that leaves a record is told once"); }
};

TEST(nursery_model, who_waits_for_any_end_is_told_each_once) {
  for (const char* children : {"r", "d", "rr", "rd", "dd", "rw"})
    REQUIRE(janus::model::goes_well<NextWorld>(children, Fences::kHeavy, children));
}

}  // namespace
