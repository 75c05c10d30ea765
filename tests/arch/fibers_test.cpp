// SPDX-License-Identifier: Apache-2.0
// fibers_test.cpp — fibers at work: deep recursion, tiny stacks, many fibers, and fibers that move between threads.
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <arch/context.h>
#include "rt/platform.h"
#include "tests/arch/fiber.h"
#include "tests/arch/probe.h"
#include "tests/harness/test.h"

namespace {

using janus::arch::Context;
using janus::arch::make_context;
using janus::test::Fiber;
using janus::test::Registers;

// `home` is the context of the thread that runs the test, while a fiber runs.
Context home;
Fiber<> one;
Fiber<> two;

std::int64_t count_down(std::int64_t depth) {
  volatile std::int64_t local = depth * 3;
  if (depth == 0)
    janus_context_switch(&one.context, &home);
  else if (count_down(depth - 1) != depth - 1)
    return -1;
  return local == depth * 3 ? depth : -1;
}

std::int64_t result_of_recursion;
std::int64_t recurse(void*) {
  result_of_recursion = count_down(50);
  for (;;) janus_context_switch(&one.context, &home);
}

TEST(fibers, a_switch_deep_in_recursion_keeps_every_frame) {
  result_of_recursion = 0;
  one.start(recurse, nullptr);
  janus_context_switch(&home, &one.context);
  CHECK_EQ(result_of_recursion, 0);
  janus_context_switch(&home, &one.context);
  CHECK_EQ(result_of_recursion, 50);
}

std::byte tiny_stack[4][512];
Context tiny[4];
int tiny_turns;

std::int64_t next_tiny(void* self) {
  auto i = reinterpret_cast<std::uint64_t>(self);
  for (;;) {
    ++tiny_turns;
    janus_context_switch(&tiny[i], i == 3 ? &home : &tiny[i + 1]);
  }
}

TEST(fibers, half_a_kilobyte_of_stack_is_enough) {
  tiny_turns = 0;
  for (std::uint64_t i = 0; i < 4; ++i)
    make_context(tiny[i], tiny_stack[i] + sizeof tiny_stack[i], next_tiny, reinterpret_cast<void*>(i),
                 janus::test::nobody_finishes);
  for (int round = 0; round < 100; ++round) janus_context_switch(&home, &tiny[0]);
  CHECK_EQ(tiny_turns, 400);
}

// --- Many ------------------------------------------------------------------------------------------------------------

std::uint64_t turns;
std::int64_t play(void* partner) {
  auto* self = partner == &two ? &one : &two;
  for (;;) {
    ++turns;
    janus_context_switch(&self->context, turns >= 1'000'000 ? &home : &static_cast<Fiber<>*>(partner)->context);
  }
}

TEST(fibers, two_fibers_change_places_a_million_times) {
  turns = 0;
  one.start(play, &two);
  two.start(play, &one);
  janus_context_switch(&home, &one.context);
  CHECK_EQ(turns, 1'000'000);
}

constexpr int kRing = 64;
Fiber<2048> ring[kRing];
int visited;

std::int64_t pass_on(void* self) {
  auto i = static_cast<int>(reinterpret_cast<std::uint64_t>(self));
  for (int round = 0;; ++round) {
    if (visited != round * kRing + i) __builtin_trap();
    ++visited;
    janus_context_switch(&ring[i].context, i == kRing - 1 ? &home : &ring[i + 1].context);
  }
}

TEST(fibers, a_ring_of_fibers_is_visited_in_order) {
  visited = 0;
  for (std::uint64_t i = 0; i < kRing; ++i) ring[i].start(pass_on, reinterpret_cast<void*>(i));
  for (int round = 0; round < 50; ++round) janus_context_switch(&home, &ring[0].context);
  CHECK_EQ(visited, 50 * kRing);
}

// Each fiber keeps a sum of pseudo-random numbers in local variables. Another generator chooses the next fiber.
std::uint64_t sums[kRing];

std::uint64_t step(std::uint64_t x) {
  return x * 6364136223846793005u + 1442695040888963407u;
}

std::int64_t add_up(void* self) {
  auto i = static_cast<int>(reinterpret_cast<std::uint64_t>(self));
  std::uint64_t a = static_cast<std::uint64_t>(i) + 1, b = 0, c = ~a;
  double d = i;
  for (;;) {
    a = step(a);
    b += a ^ c;
    c = step(c);
    d += 0.5;
    sums[i] = b + static_cast<std::uint64_t>(d * 2);
    janus_context_switch(&ring[i].context, &home);
  }
}

std::uint64_t sum_after(int i, int rounds) {
  std::uint64_t a = static_cast<std::uint64_t>(i) + 1, b = 0, c = ~a;
  for (int r = 0; r < rounds; ++r) {
    a = step(a);
    b += a ^ c;
    c = step(c);
  }
  return b + static_cast<std::uint64_t>(i * 2 + rounds);
}

TEST(fibers, locals_survive_a_random_order_of_fibers) {
  int rounds[kRing] = {};
  for (std::uint64_t i = 0; i < kRing; ++i) ring[i].start(add_up, reinterpret_cast<void*>(i));
  std::uint64_t random = 42;
  for (int turn = 0; turn < 20'000; ++turn) {
    random = step(random);
    const auto i = static_cast<int>(random >> 40) % kRing;
    ++rounds[i];
    janus_context_switch(&home, &ring[i].context);
    REQUIRE(sums[i] == sum_after(i, rounds[i]));
  }
}

// --- Threads ---------------------------------------------------------------------------------------------------------

Context other_home;
std::atomic<std::uint32_t> other_is_done;

constexpr Registers kMarks = {0x1111'0001, 0x2222'0002, 0x3333'0003, 0x4444'0004, 0x5555'0005, 0x6666'0006};
std::int64_t registers_survived;

std::int64_t leave_and_come_back(void*) {
  Registers after;
  probe_switch(&one.context, &home, &kMarks, &after);  // here the first thread leaves the fiber
  registers_survived = after == kMarks ? 1 : -1;       // here the fiber is on the second thread
  janus_context_switch(&one.context, &other_home);
  __builtin_trap();
}

void second_thread(void*) {
  janus_context_switch(&other_home, &one.context);
  other_is_done.store(1, std::memory_order_release);  // pairs with the test's load
  janus::platform::wake(other_is_done, 1);
  janus::platform::exit_thread();
}

TEST(fibers, a_fiber_that_one_thread_left_goes_on_in_another) {
  other_is_done.store(0, std::memory_order_relaxed);  // before the thread starts
  registers_survived = 0;
  one.start(leave_and_come_back, nullptr);
  janus_context_switch(&home, &one.context);
  REQUIRE(janus::platform::start_thread(second_thread, nullptr, -1, "second"));
  while (other_is_done.load(std::memory_order_acquire) == 0)  // pairs with second_thread
    janus::platform::wait(other_is_done, 0, janus::platform::kForever);
  CHECK_EQ(registers_survived, 1);
}

}  // namespace
