// SPDX-License-Identifier: Apache-2.0
// threads_test.cpp — more threads than CPUs: they start, wait, are woken, take turns and keep their registers.
#include <atomic>
#include <cstdint>
#include <initializer_list>

#include "kernel-free/memory/frames.h"
#include "kernel-free/smp/per_cpu.h"
#include "kernel-free/threads/threads.h"
#include "rt/platform.h"
#include "tests/harness/test.h"

namespace {

using namespace janus;
using platform::kForever;

constexpr std::uint64_t kMillisecond = 1'000'000;

using Word = std::atomic<std::uint32_t>;

void wait_until(Word& word, std::uint32_t value) {
  for (std::uint32_t seen; (seen = word.load(std::memory_order_acquire)) != value;)
    platform::wait(word, seen, kForever);
}

void set_and_wake(Word& word, std::uint32_t value) {
  word.store(value, std::memory_order_release);
  platform::wake(word, 1u << 30);
}

void run_many() {
  constexpr unsigned kThreads = 100;
  static Word done{0};
  static std::atomic<unsigned> count{0};
  done.store(0);
  count.store(0);
  for (unsigned n = 0; n < kThreads; ++n) {
    REQUIRE(platform::start_thread(
        [](void*) {
          if (count.fetch_add(1) + 1 == kThreads) set_and_wake(done, 1);
        },
        nullptr, static_cast<int>(n % (bare::g_cpu_count + 1)) - 1, "many"));
  }
  wait_until(done, 1);
}

// A thread is freed by its CPU a moment after it has reported its end, so this waits for the frames.
bool soon_taken_at_most(std::uint64_t frames) {
  const std::uint64_t until = platform::now_ns() + 5'000 * kMillisecond;
  while (bare::frames_taken() > frames && platform::now_ns() < until) {
    Word never{0};
    platform::wait(never, 0, platform::now_ns() + kMillisecond);
  }
  return bare::frames_taken() <= frames;
}

TEST(threads, many_more_than_cpus_run_to_their_ends_and_are_freed) {
  constexpr std::uint64_t kTablesOfMany = 64;  // the page tables for the largest number of live threads are kept
  const std::uint64_t before = bare::frames_taken();
  for (int round = 0; round < 4; ++round) run_many();
  CHECK(soon_taken_at_most(before + kTablesOfMany));
}

// No stack below this frame has been touched yet. So at some depth a section (interrupts off) within a section stands
// right above a page that is not there yet.
[[gnu::noinline]] void unmap_from_depth(std::size_t depth) {
  constexpr std::size_t kBytes = std::size_t{1} << 22;
  volatile std::byte here[64];
  here[0] = std::byte{1};
  std::byte* const pages = platform::map(kBytes);
  REQUIRE(pages != nullptr);
  pages[0] = pages[kBytes / 2] = std::byte{1};
  platform::unmap(pages, kBytes);
  if (depth > sizeof here) unmap_from_depth(depth - sizeof here);
  here[1] = here[0];
}

TEST(threads, a_wake_needs_at_most_three_pages_of_stack) {
  constexpr std::size_t kDepth = 3 * bare::kPage;
  static Word done{0};
  done.store(0);
  REQUIRE(platform::start_thread(
      [](void*) {
        unmap_from_depth(kDepth);
        set_and_wake(done, 1);
      },
      nullptr, 0, "deep"));
  wait_until(done, 1);
}

TEST(threads, each_stays_on_the_cpu_that_it_was_given) {
  static std::atomic<unsigned> seen[64];
  static Word done{0};
  const unsigned cpus = bare::g_cpu_count < 64 ? bare::g_cpu_count : 64;
  for (unsigned n = 0; n < cpus; ++n) {
    REQUIRE(platform::start_thread(
        [](void* argument) {
          seen[reinterpret_cast<std::uintptr_t>(argument)].store(bare::this_cpu().index + 1);
          done.fetch_add(1);
          platform::wake(done, 1);
        },
        reinterpret_cast<void*>(static_cast<std::uintptr_t>(n)), static_cast<int>(n), nullptr));
  }
  wait_until(done, cpus);
  for (unsigned n = 0; n < cpus; ++n) CHECK_EQ(seen[n].load(), n + 1);
}

TEST(threads, a_wait_ends_at_its_time_and_not_before) {
  Word word{0};
  for (const std::uint64_t ms : {1u, 5u, 20u}) {
    const std::uint64_t until = platform::now_ns() + ms * kMillisecond;
    std::uint64_t now;
    do platform::wait(word, 0, until);
    while ((now = platform::now_ns()) < until);
    test::note("late by ns", now - until);
    CHECK_LT(now, until + 2'000 * kMillisecond);
  }
}

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
        const std::uint64_t until = platform::now_ns() + 2000 * kMillisecond;
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
  CHECK_LT(platform::now_ns() - before, 1000 * kMillisecond);
  is_over.store(1);
  platform::wake(is_over, 1u << 30);
  while (has_ended.load() == 0) platform::wait(has_ended, 0, platform::kForever);
}

TEST(threads, a_wait_for_a_word_that_has_changed_returns_at_once) {
  Word word{1};
  returns_at_once(word, [&] { platform::wait(word, 0, kForever); });
}

TEST(threads, a_wait_whose_time_has_passed_returns_at_once) {
  Word word{1};
  returns_at_once(word, [&] { platform::wait(word, 1, 0); });
}

TEST(threads, a_wake_does_not_wake_waiters_of_another_word) {
  static Word words[64];  // several of them share a bucket
  static std::atomic<unsigned> awake{0};
  static Word ended{0};
  for (unsigned n = 0; n < 8; ++n)
    REQUIRE(platform::start_thread(
        [](void* argument) {
          wait_until(words[reinterpret_cast<std::uintptr_t>(argument)], 1);
          awake.fetch_add(1);
          ended.fetch_add(1);
          platform::wake(ended, 1);
        },
        reinterpret_cast<void*>(static_cast<std::uintptr_t>(n * 8)), -1, nullptr));
  for (unsigned n = 0; n < 8; ++n) {
    set_and_wake(words[n * 8], 1);
    wait_until(ended, n + 1);
    CHECK_EQ(awake.load(), n + 1);
  }
}

TEST(threads, no_wake_up_is_lost_between_two) {
  static Word ball{0};
  constexpr std::uint32_t kTurns = 2'000;
  REQUIRE(platform::start_thread(
      [](void*) {
        for (std::uint32_t turn = 1; turn < kTurns; turn += 2) {
          wait_until(ball, turn);
          set_and_wake(ball, turn + 1);
        }
      },
      nullptr, bare::g_cpu_count > 1 ? 1 : 0, "partner"));
  for (std::uint32_t turn = 0; turn < kTurns; turn += 2) {
    set_and_wake(ball, turn + 1);
    wait_until(ball, turn + 2);
  }
  CHECK_EQ(ball.load(), kTurns);
}

// A thread that spins for another one on the same CPU gets its value, since turns end.
TEST(threads, a_spinning_thread_does_not_keep_the_others_out) {
  static std::atomic<bool> go{false};
  REQUIRE(platform::start_thread([](void*) { go.store(true); }, nullptr, 0, "setter"));
  while (!go.load()) asm volatile("pause");
}

TEST(threads, a_thread_that_asks_for_the_end_later_does_not_keep_the_others_out) {
  static std::atomic<bool> ran{false};
  ran = false;
  // On the CPU of this thread: it runs when this thread's turn is over.
  REQUIRE(
      platform::start_thread([](void*) { ran = true; }, nullptr, static_cast<int>(bare::this_cpu().index), "other"));
  bare::end_at(platform::now_ns() + 100'000 * kMillisecond, 1);
  const std::uint64_t until = platform::now_ns() + 5'000 * kMillisecond;
  while (!ran && platform::now_ns() < until) continue;
  bare::end_at(kForever, 0);
  CHECK(ran.load());
}

// Two threads on one CPU fill every register with their own values and check that they keep them.
TEST(threads, registers_survive_turns) {
  static std::atomic<unsigned> wrong{0}, rounds{0};
  static Word done{0};
  static std::atomic<bool> stop{false};
  auto keep = [](void* argument) {
    const auto mine = reinterpret_cast<std::uint64_t>(argument);
    while (!stop.load(std::memory_order_relaxed)) {
      std::uint64_t general, vector, x87;
      asm volatile(
          "movq %3, %%xmm7\n\t"
          "movq %3, %%r13\n\t"
          "fninit\n\t"
          "pushq %3\n\t"
          "fildq (%%rsp)\n\t"
          "addq $8, %%rsp\n\t"
          "movl $200000, %%ecx\n"
          "1: decl %%ecx\n\t"
          "jnz 1b\n\t"
          "subq $8, %%rsp\n\t"
          "fistpq (%%rsp)\n\t"
          "popq %2\n\t"
          "movq %%xmm7, %1\n\t"
          "movq %%r13, %0"
          : "=&r"(general), "=&r"(vector), "=&r"(x87)
          : "r"(mine)
          : "rcx", "r13", "xmm7", "cc", "memory", "st");
      if (general != mine || vector != mine || x87 != mine) wrong.fetch_add(1);
      rounds.fetch_add(1);
    }
    done.fetch_add(1);
    platform::wake(done, 1);
  };
  for (std::uint64_t n = 1; n <= 3; ++n)
    REQUIRE(platform::start_thread(keep, reinterpret_cast<void*>(n * 0x1234567890), 0, "keeper"));
  Word never{0};
  const std::uint64_t until = platform::now_ns() + 60 * kMillisecond;
  while (platform::now_ns() < until) platform::wait(never, 0, until);
  stop.store(true);
  wait_until(done, 3);
  CHECK_EQ(wrong.load(), 0u);
  CHECK_GT(rounds.load(), 3u);
}

TEST(threads, the_canary_is_the_same_on_all) {
  static std::atomic<std::uint64_t> theirs{0};
  static Word done{0};
  REQUIRE(platform::start_thread(
      [](void*) {
        theirs.store(bare::this_thread().canary);
        set_and_wake(done, 1);
      },
      nullptr, static_cast<int>(bare::g_cpu_count) - 1, nullptr));
  wait_until(done, 1);
  CHECK_EQ(theirs.load(), bare::this_thread().canary);
  CHECK_NE(theirs.load(), 0u);
  CHECK_EQ(theirs.load() & 0xff, 0u);
}

// --- All CPUs at once ---

TEST(requests, a_fence_and_a_flush_return_while_others_halt_and_run) {
  static std::atomic<bool> stop{false};
  static Word done{0};
  const unsigned others = bare::g_cpu_count - 1;
  for (unsigned n = 1; n <= others; ++n)
    REQUIRE(platform::start_thread(
        [](void*) {
          while (!stop.load()) asm volatile("pause");
          done.fetch_add(1);
          platform::wake(done, 1);
        },
        nullptr, static_cast<int>(n), "spinner"));
  for (int n = 0; n < 20; ++n) platform::heavy_fence();
  for (int n = 0; n < 20; ++n) bare::forget_translations_everywhere(bare::kEverything);
  stop.store(true);
  wait_until(done, others);
  for (int n = 0; n < 200; ++n) platform::heavy_fence();  // now the other CPUs are halted
}

// A page that one CPU has unmapped is not visible to another CPU any more, though that one used it a moment before.
TEST(requests, no_cpu_uses_a_mapping_that_another_has_removed) {
  static std::atomic<std::uint8_t*> page{nullptr};
  static Word step{0};
  constexpr std::uint32_t kRounds = 50;
  REQUIRE(platform::start_thread(
      [](void*) {
        for (std::uint32_t round = 0; round < kRounds; ++round) {
          while (step.load(std::memory_order_acquire) != 2 * round + 1) asm volatile("pause");
          *page.load() += 1;
          step.store(2 * round + 2, std::memory_order_release);
        }
      },
      nullptr, static_cast<int>(bare::g_cpu_count) - 1, "toucher"));
  auto* const memory = reinterpret_cast<std::uint8_t*>(platform::map(bare::kPage));
  REQUIRE(memory != nullptr);
  page.store(memory);
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    step.store(2 * round + 1, std::memory_order_release);
    while (step.load(std::memory_order_acquire) != 2 * round + 2) asm volatile("pause");
    CHECK_EQ(*memory, 1);
    platform::discard(reinterpret_cast<std::byte*>(memory), bare::kPage);
    CHECK_EQ(*memory, 0);
    platform::discard(reinterpret_cast<std::byte*>(memory), bare::kPage);
  }
  platform::unmap(reinterpret_cast<std::byte*>(memory), bare::kPage);
}

// Nobody waits for a halted CPU. It may have missed several requests, and must catch up on all of them.
TEST(requests, a_cpu_that_was_halted_has_missed_nothing) {
  static std::atomic<std::uint8_t*> pages{nullptr};
  static Word step{0}, done{0};
  constexpr std::size_t kCount = 3;
  constexpr std::uint32_t kRounds = 20;
  const unsigned last = bare::g_cpu_count - 1;
  REQUIRE(platform::start_thread(
      [](void*) {
        for (std::uint32_t round = 1; round <= kRounds; ++round) {
          wait_until(step, round);
          for (std::size_t n = 0; n < kCount; ++n) pages.load()[n * bare::kPage] += 1;
          done.store(round, std::memory_order_release);
          platform::wake(done, 1);
        }
      },
      nullptr, static_cast<int>(last), "halting"));
  auto* const memory = reinterpret_cast<std::uint8_t*>(platform::map(kCount * bare::kPage));
  REQUIRE(memory != nullptr);
  pages.store(memory);
  for (std::uint32_t round = 1; round <= kRounds; ++round) {
    step.store(round, std::memory_order_release);
    platform::wake(step, 1);
    wait_until(done, round);
    while (last != 0 && !bare::g_cpus[last]->is_halted.load()) asm volatile("pause");
    for (std::size_t n = 0; n < kCount; ++n) {
      CHECK_EQ(memory[n * bare::kPage], 1);
      platform::discard(reinterpret_cast<std::byte*>(memory) + n * bare::kPage, bare::kPage);
    }
    // the frames may come back in another order
    for (std::size_t n = 0; n < kCount; ++n) CHECK_EQ(memory[n * bare::kPage], 0);
  }
  platform::unmap(reinterpret_cast<std::byte*>(memory), kCount * bare::kPage);
}

TEST(clock, goes_forward_and_has_a_date) {
  std::uint64_t last = platform::now_ns();
  for (int n = 0; n < 10'000; ++n) {
    const std::uint64_t now = platform::now_ns();
    if (now < last) CHECK_GE(now, last);
    last = now;
  }
  CHECK_GT(platform::unix_time_ns(), std::int64_t{1'600'000'000} * 1'000'000'000);
}

TEST(entropy, is_never_the_same_twice_if_there_is_a_source) {
  std::uint64_t a = 0, b = 0;
  if (!platform::entropy(&a, sizeof a)) SKIP("this processor has no source of it");
  CHECK(platform::entropy(&b, sizeof b));
  CHECK_NE(a, b);
  unsigned char odd[13] = {};
  CHECK(platform::entropy(odd, sizeof odd));
}

}  // namespace
