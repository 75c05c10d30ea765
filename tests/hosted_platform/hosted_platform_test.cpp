// SPDX-License-Identifier: Apache-2.0
// hosted_platform_test.cpp — the hosted platform keeps the contract of rt/platform.h, and the sanitizer of this build
// is told of switches between stacks.
#include <arch/context.h>
#include "rt/platform.h"
#include "rt/sched/fiber_hooks.h"
#include "tests/harness/test.h"

namespace {

using namespace janus;
constexpr std::size_t kPage = 4096;

struct Signal {
  std::atomic<std::uint32_t> word{0};
  void raise() {
    word.store(1, std::memory_order_release);
    platform::wake(word, 1);
  }
  void await() {
    while (word.load(std::memory_order_acquire) == 0) platform::wait(word, 0, platform::kForever);
  }
};

struct NurseryRef {
  int seen = 0;
  void* slot = nullptr;
  Signal done;
};

void visit(void* raw) {
  auto* visit = static_cast<NurseryRef*>(raw);
  visit->slot = platform::worker_slot();  // must be null in a new thread
  platform::set_worker_slot(&visit->seen);
  visit->seen = platform::worker_slot() == &visit->seen ? 7 : -1;
  visit->done.raise();
  platform::exit_thread();
}

TEST(hosted_platform, a_thread_runs_with_a_slot_of_its_own_and_ends) {
  for (int round = 0; round < 20; ++round) {
    NurseryRef here;
    here.slot = &here;
    REQUIRE(platform::start_thread(visit, &here, 0, "janus/0"));
    here.done.await();
    CHECK_EQ(here.seen, 7);
    CHECK(here.slot == nullptr);
  }
  CHECK(platform::worker_slot() == nullptr);
}

TEST(hosted_platform, a_wait_ends_at_its_deadline) {
  std::atomic<std::uint32_t> word{0};
  const std::uint64_t until = platform::now_ns() + 2'000'000;
  while (platform::now_ns() < until) platform::wait(word, 0, until);
  CHECK_GE(platform::now_ns(), until);
}

TEST(hosted_platform, discarded_pages_read_as_zero) {
  std::byte* pages = platform::map(2 * kPage);
  REQUIRE(pages != nullptr);
  pages[kPage] = std::byte{9};
  platform::discard(pages, 2 * kPage);
  CHECK_EQ(pages[kPage], std::byte{0});
  platform::unmap(pages, 2 * kPage);
}

// The fault handler turns a load from a guard page into a call of resume_here() on the same stack.
bool has_left;
arch::Context outside, inside;
fiber_hooks::Fiber thread_fiber, stack_fiber;
std::byte* guard_page;
std::uint64_t fault_address, resumed_with;
std::byte* resume_top;

// Switches back to the test for good, at any depth of the stack.
[[noreturn]] void leave() {
  has_left = true;
  fiber_hooks::before_switch(nullptr, thread_fiber);
  janus_context_switch(&inside, &outside);
  __builtin_unreachable();
}

void resume_here(std::uint64_t argument) {
  resumed_with = argument;
  leave();
}

bool turn_aside(platform::Fault& fault) {
  if (!fault.has_address || fault.kind != platform::FaultKind::kAccess) return false;
  fault_address = fault.address;
  fault.resume_ip = reinterpret_cast<std::uint64_t>(&resume_here);
  fault.resume_sp = reinterpret_cast<std::uint64_t>(resume_top) - 8;  // aligned as after a call
  fault.resume_arg = 42;
  return true;
}

std::int64_t touch_the_guard(void*) {
  fiber_hooks::after_switch(stack_fiber);
  *reinterpret_cast<volatile std::byte*>(guard_page) = std::byte{1};
  return 0;
}

void finished(std::int64_t) {
  leave();
}

// ThreadSanitizer records the open calls of each fiber and has room for some 65,000. They must not add up on a stack
// that is left in the middle of a call again and again.
std::int64_t leave_at_once(void*) {
  fiber_hooks::after_switch(stack_fiber);
  leave();
}

TEST(hosted_platform, a_stack_may_be_left_for_good_and_entered_again_without_end) {
  constexpr std::size_t kBytes = 16 * kPage;
  std::byte* stack = platform::map(kBytes);
  REQUIRE(stack != nullptr);
  thread_fiber = fiber_hooks::adopt_thread();
  stack_fiber = nullptr;
  for (int round = 0; round < 100'000; ++round) {
    stack_fiber = fiber_hooks::enter(stack_fiber, stack, stack + kBytes);
    arch::make_context(inside, stack + kBytes, leave_at_once, nullptr, nullptr);
    fiber_hooks::before_switch(thread_fiber, stack_fiber);
    janus_context_switch(&outside, &inside);
    fiber_hooks::after_switch(thread_fiber);
  }
  fiber_hooks::destroy(stack_fiber);
  fiber_hooks::destroy(thread_fiber);
  platform::unmap(stack, kBytes);
}

// Runs `entry` on a stack above a guard page, and switches back to it until it calls leave().
void run_on_a_stack(std::int64_t (*entry)(void*), void* arg) {
  constexpr std::size_t kBytes = 65 * kPage;
  guard_page = platform::map(kBytes);
  REQUIRE(guard_page != nullptr);
  std::size_t guarded = 0;
  CHECK_NE(platform::guard(guard_page, kBytes, 1, kPage, guarded), platform::Guard::kNone);
  CHECK_EQ(guarded, 1);
  resume_top = guard_page + kBytes - kPage;
  thread_fiber = fiber_hooks::adopt_thread();
  stack_fiber = fiber_hooks::create(guard_page + kPage, guard_page + kBytes);
  arch::make_context(inside, guard_page + kBytes, entry, arg, finished);
  for (has_left = false; !has_left;) {
    fiber_hooks::before_switch(thread_fiber, stack_fiber);
    janus_context_switch(&outside, &inside);
    fiber_hooks::after_switch(thread_fiber);
  }
  fiber_hooks::destroy(stack_fiber);
  fiber_hooks::destroy(thread_fiber);
  platform::unmap(guard_page, kBytes);
}

TEST(hosted_platform, a_touched_guard_is_a_fault_that_the_handler_may_turn_aside) {
  (void)platform::on_fault(turn_aside);
  fault_address = resumed_with = 0;
  run_on_a_stack(touch_the_guard, nullptr);
  platform::remove_fault_handler();
  CHECK_EQ(fault_address, reinterpret_cast<std::uint64_t>(guard_page));
  CHECK_EQ(resumed_with, 42);
}

std::int64_t ping_pong(void* raw) {
  fiber_hooks::after_switch(stack_fiber);
  auto& count = *static_cast<int*>(raw);
  for (int i = 0; i < 1000; ++i) {
    volatile char frame[256];  // a sanitizer surrounds it with red zones
    frame[i % 256] = 1;
    count += frame[i % 256];
    fiber_hooks::before_switch(stack_fiber, thread_fiber);
    janus_context_switch(&inside, &outside);
    fiber_hooks::after_switch(stack_fiber);
  }
  return 0;
}

TEST(hosted_platform, a_thousand_switches_are_announced_and_nothing_complains) {
  int count = 0;
  run_on_a_stack(ping_pong, &count);
  CHECK_EQ(count, 1000);
}

}  // namespace
