// SPDX-License-Identifier: Apache-2.0
// task_call_test.cpp — calls that can be abandoned, and switching to an empty stack.
#include <arch/task_call.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <arch/context.h>
#include "tests/arch/fiber.h"
#include "tests/arch/probe.h"
#include "tests/harness/test.h"

namespace {

using janus::arch::Context;
using janus::arch::kDefaultFcw;
using janus::arch::kDefaultMxcsr;
using janus::arch::kMxcsrControlBits;
using janus::arch::TaskFrame;
using namespace janus::test;

constexpr std::uint32_t kInexactFlag = 0x20;
constexpr std::uint64_t kDirectionFlag = 1 << 10;
constexpr Registers kMarks = {0x1111'0001, 0x2222'0002, 0x3333'0003, 0x4444'0004, 0x5555'0005, 0x6666'0006};

std::uint64_t frame;

void set_fp_control(std::uint32_t sse, std::uint16_t x87) {
  set_mxcsr(sse);
  set_fcw(x87);
}
std::uint64_t flags() {
  std::uint64_t word;
  asm volatile("pushf\n pop %0" : "=r"(word));
  return word;
}

Entry probe() {
  Entry entry = {};
  entry.result = -77;
  CHECK_EQ(janus_task_call(probe_entry, &entry, &frame), -77);
  return entry;
}

TEST(task_call, gives_the_argument_and_gives_back_the_result) {
  for (std::int64_t result : {std::int64_t{0}, INT64_MIN, INT64_MAX}) {
    Entry entry = {};
    entry.result = result;
    CHECK_EQ(janus_task_call(probe_entry, &entry, &frame), result);
    CHECK_EQ(entry.argument, reinterpret_cast<std::uint64_t>(&entry));
  }
}

TEST(task_call, the_function_is_entered_as_the_abi_says) {
  const Entry entry = probe();
  CHECK_EQ(entry.sp % 16, 8);
  CHECK_EQ(entry.flags & kDirectionFlag, 0);
}

TEST(task_call, a_task_sees_the_default_words_whoever_ran_before) {
  set_fp_control(kDefaultMxcsr | kRoundUp | kInexactFlag, kDefaultFcw | kRoundUpX87);
  const Entry entry = probe();
  set_fp_control(kDefaultMxcsr, kDefaultFcw);
  CHECK_EQ(entry.mxcsr, kDefaultMxcsr);
  CHECK_EQ(entry.fcw, kDefaultFcw);
}

TEST(task_call, a_task_sees_no_sticky_flag_of_another) {
  set_fp_control(kDefaultMxcsr | kInexactFlag, kDefaultFcw);
  const Entry entry = probe();
  CHECK_EQ(entry.mxcsr, kDefaultMxcsr);
}

TEST(task_call, the_x87_word_alone_is_seen_too) {
  set_fp_control(kDefaultMxcsr, kDefaultFcw | kRoundUpX87);
  const Entry entry = probe();
  const std::uint16_t after = fcw();
  set_fp_control(kDefaultMxcsr, kDefaultFcw);
  CHECK_EQ(entry.fcw, kDefaultFcw);
  CHECK_EQ(after, kDefaultFcw | kRoundUpX87);
}

TEST(task_call, the_caller_gets_its_own_rounding_back) {
  set_fp_control(kDefaultMxcsr | kRoundUp, kDefaultFcw | kRoundUpX87);
  (void)probe();
  const std::uint32_t sse = mxcsr();
  const std::uint16_t x87 = fcw();
  set_fp_control(kDefaultMxcsr, kDefaultFcw);
  CHECK_EQ(sse & kMxcsrControlBits, kDefaultMxcsr | kRoundUp);
  CHECK_EQ(x87, kDefaultFcw | kRoundUpX87);
}

std::int64_t leave_another_rounding(void*) {
  set_fp_control(kDefaultMxcsr | kRoundUp, kDefaultFcw | kRoundUpX87);
  return 0;
}

TEST(task_call, a_task_that_leaves_another_rounding_does_not_change_its_callers) {
  janus_task_call(leave_another_rounding, nullptr, &frame);
  CHECK_EQ(mxcsr() & kMxcsrControlBits, kDefaultMxcsr);
  CHECK_EQ(fcw(), kDefaultFcw);
}

std::int64_t nothing(void*) {
  return 5;
}

TEST(task_call, the_callee_saved_registers_survive) {
  Registers after = {};
  CHECK_EQ(probe_task_call(nothing, nullptr, &frame, &kMarks, &after), 5);
  CHECK(after == kMarks);
}

struct Seen {
  std::uint64_t frame_sp;
  Registers registers;
  bool chain_is_whole;
};

std::int64_t look_at_the_frame(void* seen_by) {
  auto& seen = *static_cast<Seen*>(seen_by);
  seen.frame_sp = frame;
  const auto& in = *reinterpret_cast<TaskFrame*>(frame);
  seen.registers = {in.rbx, in.rbp, in.r12, in.r13, in.r14, in.r15};
  // This function's frame pointer leads to the rbp of the TaskFrame, and that one to the caller.
  auto* link = static_cast<std::uint64_t*>(__builtin_frame_address(0));
  seen.chain_is_whole = *link == frame + offsetof(TaskFrame, rbp) && in.return_ip != 0;
  return 0;
}

TEST(task_call, the_frame_is_known_before_the_task_starts_and_is_as_declared) {
  Seen seen = {};
  Registers after = {};
  frame = 0;
  probe_task_call(look_at_the_frame, &seen, &frame, &kMarks, &after);
  CHECK_EQ(seen.frame_sp, frame);
  CHECK_EQ(seen.frame_sp % 16, 0);
  CHECK(seen.registers == kMarks);
  CHECK(seen.chain_is_whole);
}

// --- Abandoning ------------------------------------------------------------------------------------------------------

std::int64_t abandon_from(std::int64_t depth) {
  volatile std::byte room[200];
  room[0] = std::byte{1};
  if (depth < 0) return 0;
  if (depth > 0) return abandon_from(depth - 1) + static_cast<std::int64_t>(room[0]);
  janus_task_abandon(frame, -123);
}
std::int64_t abandon_at_depth(void* depth) {
  return abandon_from(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(depth)));
}

TEST(task_abandon, the_call_returns_the_value) {
  CHECK_EQ(janus_task_call(abandon_at_depth, nullptr, &frame), -123);
}

TEST(task_abandon, every_frame_below_is_left) {
  for (std::uintptr_t depth : {1, 2, 17, 60})
    CHECK_EQ(janus_task_call(abandon_at_depth, reinterpret_cast<void*>(depth), &frame), -123);
}

void abandon_now(void*) {
  janus_task_abandon(frame, -5);
}
std::int64_t wreck_and_abandon(void*) {
  probe_wreck_registers(abandon_now, nullptr);
}

TEST(task_abandon, the_callee_saved_registers_are_the_callers_again) {
  Registers after = {};
  CHECK_EQ(probe_task_call(wreck_and_abandon, nullptr, &frame, &kMarks, &after), -5);
  CHECK(after == kMarks);
}

TEST(task_abandon, the_direction_flag_is_clear_again) {
  janus_task_call(wreck_and_abandon, nullptr, &frame);
  CHECK_EQ(flags() & kDirectionFlag, 0);
}

std::int64_t round_up_and_abandon(void*) {
  set_fp_control(kDefaultMxcsr | kRoundUp, kDefaultFcw | kRoundUpX87);
  janus_task_abandon(frame, 0);
}

TEST(task_abandon, the_callers_rounding_is_back) {
  janus_task_call(round_up_and_abandon, nullptr, &frame);
  CHECK_EQ(mxcsr() & kMxcsrControlBits, kDefaultMxcsr);
  CHECK_EQ(fcw(), kDefaultFcw);
}

Entry half_entry;
std::int64_t enter_half(void* arg) {
  half_entry.mxcsr = mxcsr();
  half_entry.fcw = fcw();
  half_entry.sp = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return reinterpret_cast<std::intptr_t>(arg);
}

TEST(half_call, a_half_sees_the_callers_words_and_gives_its_result) {
  set_fp_control(kDefaultMxcsr | kRoundUp, kDefaultFcw | kRoundUpX87);
  const std::int64_t result = janus_half_call(reinterpret_cast<void*>(-7), enter_half, &frame);
  const std::uint32_t sse = mxcsr();
  const std::uint16_t x87 = fcw();
  set_fp_control(kDefaultMxcsr, kDefaultFcw);
  CHECK_EQ(result, -7);
  CHECK_EQ(half_entry.mxcsr & kMxcsrControlBits, kDefaultMxcsr | kRoundUp);
  CHECK_EQ(half_entry.fcw, kDefaultFcw | kRoundUpX87);
  CHECK_EQ(half_entry.sp % 16, 0);
  CHECK_EQ(sse & kMxcsrControlBits, kDefaultMxcsr | kRoundUp);
  CHECK_EQ(x87, kDefaultFcw | kRoundUpX87);
}

TEST(half_call, one_that_is_abandoned_returns_the_value_with_the_default_words) {
  for (int i = 0; i < 3; ++i) {
    set_fp_control(kDefaultMxcsr | kRoundUp, kDefaultFcw);
    CHECK_EQ(janus_half_call(reinterpret_cast<void*>(i), abandon_at_depth, &frame), -123);
    CHECK_EQ(mxcsr() & kMxcsrControlBits, kDefaultMxcsr);
    janus_half_call(nullptr, round_up_and_abandon, &frame);
    CHECK_EQ(mxcsr() & kMxcsrControlBits, kDefaultMxcsr);
    CHECK_EQ(fcw(), kDefaultFcw);
  }
}

// A call within a call; each has its own frame.
std::uint64_t inner_frame;
std::int64_t abandon_inner(void*) {
  janus_task_abandon(inner_frame, 10);
}
std::int64_t abandon_outer(void*) {
  janus_task_abandon(frame, 1000);
}
std::int64_t call_inner(void* fn) {
  return janus_task_call(reinterpret_cast<std::int64_t (*)(void*)>(fn), nullptr, &inner_frame) + 1;
}

TEST(task_abandon, the_inner_of_two_calls_alone) {
  CHECK_EQ(janus_task_call(call_inner, reinterpret_cast<void*>(abandon_inner), &frame), 11);
}

TEST(task_abandon, the_outer_of_two_calls_with_the_inner) {
  CHECK_EQ(janus_task_call(call_inner, reinterpret_cast<void*>(abandon_outer), &frame), 1000);
}

Fiber<> fiber;
Context home;

std::int64_t step_over_and_abandon(void*) {
  janus_run_on_stack(fiber.top(), abandon_now, nullptr);
}

TEST(task_abandon, works_from_another_stack) {
  CHECK_EQ(janus_task_call(step_over_and_abandon, nullptr, &frame), -5);
}

std::int64_t suspend_then_abandon(void*) {
  janus_context_switch(&fiber.context, &home);
  janus_task_abandon(frame, 44);
}
std::int64_t abandoned_result;
std::int64_t fiber_with_a_task(void*) {
  abandoned_result = janus_task_call(suspend_then_abandon, nullptr, &frame);
  janus_context_switch(&fiber.context, &home);
  __builtin_trap();
}

TEST(task_abandon, works_after_the_task_was_suspended) {
  abandoned_result = 0;
  fiber.start(fiber_with_a_task, nullptr);
  janus_context_switch(&home, &fiber.context);
  CHECK_EQ(abandoned_result, 0);
  janus_context_switch(&home, &fiber.context);
  CHECK_EQ(abandoned_result, 44);
}

TEST(task_abandon, a_hundred_thousand_times_in_a_row) {
  std::int64_t sum = 0;
  for (int i = 0; i < 100'000; ++i) sum += janus_task_call(abandon_at_depth, nullptr, &frame);
  CHECK_EQ(sum, -12'300'000);
}

// --- An empty stack --------------------------------------------------------------------------------------------------

Entry on_empty_stack;

void come_home(void*) {
  auto* link = static_cast<std::uint64_t*>(__builtin_frame_address(0));
  on_empty_stack.sp = reinterpret_cast<std::uint64_t>(link + 1);
  on_empty_stack.rbp = *link;
  Context dead;
  janus_context_switch(&dead, &home);
  __builtin_trap();
}

std::int64_t run_come_home(void* top) {
  janus_run_on_stack(static_cast<std::byte*>(top), come_home, nullptr);
}

TEST(run_on_stack, the_function_is_called_at_the_top_and_the_frame_chain_ends_there) {
  static Fiber<> start;
  for (int off : {0, 1, 15}) {
    start.start(run_come_home, fiber.top() - 16 + off);
    janus_context_switch(&home, &start.context);
    CHECK_EQ(on_empty_stack.sp, reinterpret_cast<std::uint64_t>(fiber.top()) - 16 - 8);
    CHECK_EQ(on_empty_stack.rbp, 0);
  }
}

}  // namespace
