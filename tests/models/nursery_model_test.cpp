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

}  // namespace
