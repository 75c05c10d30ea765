// SPDX-License-Identifier: Apache-2.0
// futex_test.cpp — waiting, waking, fences and the clock.
#include "arch/linux/auxv/auxv.h"
#include "rt/platform.h"
#include "tests/harness/test.h"
#include "tests/linux/kernel_eye.h"

namespace {

using namespace janus;
using Word = std::atomic<std::uint32_t>;
constexpr std::uint64_t kMs = 1'000'000;

// Runs `waits`, which must return at once. If it sleeps, `word` is woken after two seconds, so the test fails instead
// of hanging.
template <class Waits>
void returns_at_once(Word& word, Waits waits) {
  static Word is_over, has_ended;
  static Word* to_wake;
  is_over.store(0);
  has_ended.store(0);
  to_wake = &word;
  REQUIRE(platform::start_thread(
      [](void*) {
        const std::uint64_t until = platform::now_ns() + 2000 * kMs;
        while (is_over.load() == 0 && platform::now_ns() < until) platform::wait(is_over, 0, until);
        while (is_over.load() == 0) {
          to_wake->fetch_add(1);
          platform::wake(*to_wake, 1u << 30);
        }
        has_ended.store(1);
        platform::wake(has_ended, 1u << 30);
        platform::exit_thread();
      },
      nullptr, -1, "guardian"));
  const std::uint64_t before = platform::now_ns();
  waits();
  CHECK_LT(platform::now_ns() - before, 1000 * kMs);
  is_over.store(1);
  platform::wake(is_over, 1u << 30);
  while (has_ended.load() == 0) platform::wait(has_ended, 0, platform::kForever);
}

TEST(futex, a_wait_for_another_value_returns_at_once) {
  Word word{1};
  returns_at_once(word, [&] { platform::wait(word, 0, platform::kForever); });
}

TEST(futex, a_wait_ends_at_its_time_and_not_before) {
  Word word{0};
  const std::uint64_t until = platform::now_ns() + 20 * kMs;
  while (platform::now_ns() < until) platform::wait(word, 0, until);
  const std::uint64_t late = platform::now_ns() - until;
  CHECK_LT(late, 10'000 * kMs);
}

TEST(futex, a_time_that_has_passed_ends_a_wait_at_once) {
  Word word{0};
  returns_at_once(word, [&] { platform::wait(word, 0, 0); });
  returns_at_once(word, [&] { platform::wait(word, 0, platform::now_ns() - 1); });
}

struct Sleepers {
  Word gate{0}, asleep{0}, woken{0};
};

void sleep_at_gate(void* arg) {
  auto& s = *static_cast<Sleepers*>(arg);
  test::bump(s.asleep);
  while (s.gate.load() == 0) platform::wait(s.gate, 0, platform::kForever);
  test::bump(s.woken);
  platform::exit_thread();
}

TEST(futex, waking_all_wakes_every_sleeper) {
  static Sleepers s;
  for (int i = 0; i < 4; ++i) REQUIRE(platform::start_thread(sleep_at_gate, &s, -1, "sleeper"));
  REQUIRE(test::reaches(s.asleep, 4));
  s.gate.store(1);
  platform::wake(s.gate, ~0u);
  CHECK(test::reaches(s.woken, 4));
}

TEST(clock, never_runs_backwards_and_does_run) {
  const std::uint64_t begin = platform::now_ns();
  std::uint64_t last = begin;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t now = platform::now_ns();
    REQUIRE(now >= last);
    last = now;
  }
  CHECK_GT(last, begin);
}

TEST(clock, agrees_with_the_kernel) {
  kernel::Timespec time{};
  test::call(kernel::kClockGettime, kernel::kClockMonotonic, &time);
  const std::int64_t kernel_ns = time.seconds * 1'000'000'000 + time.nanoseconds;
  const std::uint64_t ours = platform::now_ns();
  CHECK_GE(ours, kernel_ns);
  CHECK_LT(ours - static_cast<std::uint64_t>(kernel_ns), 1'000 * kMs);
  test::call(kernel::kClockGettime, kernel::kClockRealtime, &time);
  const std::int64_t seconds = platform::unix_time_ns() / 1'000'000'000;
  CHECK(seconds == time.seconds || seconds == time.seconds + 1);
}

TEST(clock, costs_no_system_call_where_the_kernel_offers_one_without) {
  if (kernel::aux_value(kernel::kAuxVdso, 0) == 0) SKIP("this kernel offers no vDSO");
  if (test::is_emulated()) SKIP("Linux does not trust the counter of an emulated processor");
  const std::uint64_t begin = platform::now_ns();
  for (int i = 0; i < 100'000; ++i) (void)platform::now_ns();
  test::note("ns for one reading of the clock", (platform::now_ns() - begin) / 100'000);
  const test::End end =
      test::in_child([] { return test::refuse(kernel::kClockGettime, kernel::kEPERM) && platform::now_ns() != 0; });
  CHECK(end.exited(0));
}

// Store buffering: each side stores to its own word, then loads the other's. The fences forbid that both read 0.
struct Duel {
  std::atomic<std::uint32_t> x{0}, y{0}, round{0}, done{0}, seen_by_light{0};
};

void light_side(void* arg) {
  auto& d = *static_cast<Duel*>(arg);
  for (std::uint32_t i = 1; i <= 2000; ++i) {
    while (d.round.load(std::memory_order_acquire) != i) {
    }
    d.x.store(1, std::memory_order_relaxed);
    // orders the compiler only: the other side's heavy fence orders the processor
    std::atomic_signal_fence(std::memory_order_seq_cst);
    d.seen_by_light.store(d.y.load(std::memory_order_relaxed), std::memory_order_relaxed);
    d.done.store(i, std::memory_order_release);
  }
  test::bump(d.done);
  platform::exit_thread();
}

TEST(fence, the_heavy_side_pays_for_both) {
  if (!platform::has_heavy_fence()) SKIP("this kernel has no expedited membarrier");
  platform::Cpus cpus;
  platform::cpus(cpus);
  if (cpus.allowed < 2) SKIP("one CPU only");
  static Duel d;
  REQUIRE(platform::start_thread(light_side, &d, -1, "light"));
  for (std::uint32_t i = 1; i <= 2000; ++i) {
    d.x.store(0, std::memory_order_relaxed);
    d.y.store(0, std::memory_order_relaxed);
    d.round.store(i, std::memory_order_release);
    d.y.store(1, std::memory_order_relaxed);
    platform::heavy_fence();
    const std::uint32_t seen_by_heavy = d.x.load(std::memory_order_relaxed);
    while (d.done.load(std::memory_order_acquire) < i) {
    }
    REQUIRE(seen_by_heavy == 1 || d.seen_by_light.load(std::memory_order_relaxed) == 1);
  }
  CHECK(test::reaches(d.done, 2001));
}

}  // namespace
