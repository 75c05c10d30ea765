// SPDX-License-Identifier: Apache-2.0
// unwind_subject.cpp — the program that unwind.py steps through: a fiber that starts, is left, is resumed and finishes;
// calls that return and calls that are abandoned. Each path through each assembly function is taken once.
#include <cstddef>
#include <cstdint>

#include <arch/context.h>
#include <arch/jump_back.h>
#include <arch/task_call.h>
#include "tests/arch/fiber.h"

namespace {

using janus::arch::Context;

Context home;
janus::test::Fiber<16384> fiber;
std::uint64_t frame;

// Keeps the call before it from becoming a tail call, so that each function has a frame that the debugger can find.
void stay() {
  asm volatile("");
}

void round_up(bool sse, bool x87) {
  const std::uint32_t mxcsr = janus::arch::kDefaultMxcsr | (sse ? 0x4000 : 0);
  const auto fcw = static_cast<std::uint16_t>(janus::arch::kDefaultFcw | (x87 ? 0x0800 : 0));
  asm volatile("ldmxcsr %0\n fldcw %1" : : "m"(mxcsr), "m"(fcw));
}

}  // namespace

#define STEP extern "C" [[gnu::noinline]]

STEP void fiber_deeper() {
  janus_context_switch(&fiber.context, &home);
  stay();
}

STEP std::int64_t fiber_body(void* arg) {
  fiber_deeper();
  stay();
  return *static_cast<std::int64_t*>(arg);
}

STEP void fiber_finished(std::int64_t) {
  janus_context_switch(&fiber.context, &home);
  __builtin_trap();
}

STEP void leave_home() {
  janus_context_switch(&home, &fiber.context);
  stay();
}

STEP int called_to_jump_back(void*, void*, void*, void*, void*) {
  stay();
  return 6;
}
STEP int jump_back() {
  const int result = janus_jump_back(nullptr, nullptr, nullptr, nullptr, nullptr, called_to_jump_back);
  stay();
  return result;
}

STEP void leap_from_home() {
  stay();  // makes this no leaf function, so no part of its frame lies below rsp
  janus::arch::switch_jmp(&home, &fiber.context);
  stay();
}

STEP std::int64_t task_that_returns(void*) {
  return 1;
}
STEP void abandon_deeper() {
  janus_task_abandon(frame, 2);
}
STEP std::int64_t task_that_is_abandoned(void*) {
  abandon_deeper();
  return 3;
}
STEP std::int64_t task_that_rounds_up(void*) {
  round_up(true, true);
  return 4;
}

STEP std::int64_t call_task(std::int64_t (*task)(void*)) {
  const std::int64_t result = janus_task_call(task, nullptr, &frame);
  stay();
  return result;
}

STEP std::int64_t call_half(std::int64_t (*task)(void*)) {
  const std::int64_t result = janus_half_call(nullptr, task, &frame);
  stay();
  return result;
}

STEP void on_empty_stack(void*) {
  janus_task_abandon(frame, 5);
}
STEP std::int64_t task_that_changes_stacks(void*) {
  janus_run_on_stack(fiber.top(), on_empty_stack, nullptr);
}

int main() {
  std::int64_t value = 7;
  fiber.start(fiber_body, &value, fiber_finished);
  leave_home();  // starts the fiber
  round_up(true, false);
  leave_home();  // resumes the fiber with another mxcsr; the fiber finishes
  fiber.start(fiber_body, &value, fiber_finished);
  round_up(true, true);
  leave_home();  // with both control words changed
  fiber.start(fiber_body, &value, fiber_finished);
  leap_from_home();
  leap_from_home();
  call_task(task_that_returns);  // the default control words are loaded, then the caller's are restored
  round_up(true, false);
  call_task(task_that_returns);
  round_up(false, false);
  call_task(task_that_returns);
  call_task(task_that_rounds_up);
  call_task(task_that_is_abandoned);
  call_task(task_that_changes_stacks);
  call_half(task_that_returns);
  call_half(task_that_is_abandoned);
  jump_back();
  return 0;
}
