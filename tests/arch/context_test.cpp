// SPDX-License-Identifier: Apache-2.0
// context_test.cpp — the contract of the context switch (docs/CONTEXT-SWITCH-INVARIANTS.md), clause by clause.
#include <arch/context.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <arch/worker_slot.h>
#include "rt/platform.h"
#include "tests/arch/fiber.h"
#include "tests/arch/probe.h"
#include "tests/harness/test.h"

extern "C" bool janus_loads_mxcsr_quickly;

namespace {

using janus::arch::Context;
using janus::arch::kDefaultFcw;
using janus::arch::kDefaultMxcsr;
using janus::arch::kMxcsrControlBits;
using janus::arch::make_context;
using namespace janus::test;

constexpr std::uint64_t kDirectionFlag = 1 << 10;

// `home` is the context of the thread that runs the test, while a fiber runs.
Context home;
Fiber<> one;
Fiber<> two;

void go_home(std::int64_t) {
  janus_context_switch(&one.context, &home);
  __builtin_trap();
}

// Switches home again as often as it is switched to.
std::int64_t bounce(void* fiber) {
  for (;;) janus_context_switch(&static_cast<Fiber<>*>(fiber)->context, &home);
}

// --- The layout ------------------------------------------------------------------------------------------------------

TEST(context, the_layout_is_the_one_that_the_specification_fixes) {
  CHECK_EQ(offsetof(Context, sp), 0);
  CHECK_EQ(offsetof(Context, rbx), 8);
  CHECK_EQ(offsetof(Context, rbp), 16);
  CHECK_EQ(offsetof(Context, r12), 24);
  CHECK_EQ(offsetof(Context, r13), 32);
  CHECK_EQ(offsetof(Context, r14), 40);
  CHECK_EQ(offsetof(Context, r15), 48);
}

TEST(context, a_context_is_one_cache_line) {
  CHECK_EQ(sizeof(Context), 64);
  CHECK_EQ(offsetof(Context, mxcsr), 56);
  CHECK_EQ(offsetof(Context, fcw), 60);
}

// --- A fresh fiber ---------------------------------------------------------------------------------------------------

TEST(context, a_fresh_stack_holds_entry_cleanup_and_a_null_return_address) {
  one.start(bounce, &one);
  auto* words = reinterpret_cast<std::uint64_t*>(one.top());
  CHECK_EQ(words[-1], 0);
  CHECK_EQ(words[-2], reinterpret_cast<std::uint64_t>(janus_fiber_cleanup));
  CHECK_EQ(words[-3], reinterpret_cast<std::uint64_t>(janus_fiber_entry));
  CHECK_EQ(one.context.sp, reinterpret_cast<std::uint64_t>(words - 3));
}

TEST(context, a_fresh_context_carries_entry_argument_and_what_comes_after) {
  one.start(bounce, &two, go_home);
  CHECK_EQ(one.context.r12, reinterpret_cast<std::uint64_t>(bounce));
  CHECK_EQ(one.context.r13, reinterpret_cast<std::uint64_t>(&two));
  CHECK_EQ(one.context.r14, reinterpret_cast<std::uint64_t>(go_home));
  CHECK_EQ(one.context.rbx | one.context.rbp | one.context.r15, 0);
  CHECK_EQ(one.context.mxcsr, kDefaultMxcsr);
  CHECK_EQ(one.context.fcw, kDefaultFcw);
}

TEST(context, making_one_writes_nothing_but_three_words_below_the_top) {
  alignas(16) std::uint64_t stack[16];
  for (auto& word : stack) word = 0x5555;
  make_context(one.context, reinterpret_cast<std::byte*>(stack + 12), bounce, nullptr, go_home);
  for (int i = 0; i < 16; ++i) CHECK((stack[i] == 0x5555) == (i < 9 || i >= 12));
}

TEST(context, a_top_that_is_not_aligned_is_rounded_down) {
  Context odd;
  for (int off = 0; off < 16; ++off) {
    make_context(odd, one.top() - 64 + off, bounce, nullptr, go_home);
    CHECK_EQ(odd.sp, reinterpret_cast<std::uint64_t>(one.top() - 64 - 24));
  }
}

Entry entered;

void enter_probe(std::int64_t result) {
  entered = {};
  entered.result = result;
  probe_finished_next = go_home;
  one.start(probe_entry, &entered, probe_finished);
  janus_context_switch(&home, &one.context);
}

TEST(context, the_entry_function_gets_its_argument) {
  enter_probe(0);
  CHECK_EQ(entered.argument, reinterpret_cast<std::uint64_t>(&entered));
}

TEST(context, the_entry_function_is_entered_aligned_as_a_called_function) {
  enter_probe(0);
  CHECK_EQ(entered.sp % 16, 8);
}

TEST(context, the_chain_of_frame_pointers_ends_at_the_entry_function) {
  enter_probe(0);
  CHECK_EQ(entered.rbp, 0);
}

TEST(context, a_fresh_fiber_has_default_floating_point_control) {
  for (const bool quickly : {false, true}) {
    janus_loads_mxcsr_quickly = quickly;
    set_mxcsr(kDefaultMxcsr | kRoundUp);
    set_fcw(kDefaultFcw | kRoundUpX87);
    enter_probe(0);
    set_mxcsr(kDefaultMxcsr);
    set_fcw(kDefaultFcw);
    CHECK_EQ(entered.mxcsr & kMxcsrControlBits, kDefaultMxcsr & kMxcsrControlBits);
    CHECK_EQ(entered.fcw, kDefaultFcw);
    CHECK_EQ(entered.flags & kDirectionFlag, 0);
  }
}

TEST(context, the_result_reaches_what_comes_after) {
  for (std::int64_t result : {std::int64_t{0}, std::int64_t{-2}, std::int64_t{INT64_MIN}, std::int64_t{INT64_MAX}}) {
    enter_probe(result);
    CHECK_EQ(static_cast<std::int64_t>(probe_finished_entry.argument), result);
  }
}

TEST(context, the_function_after_an_abandoned_task_is_entered_with_an_aligned_stack) {
  enter_probe(0);
  CHECK_EQ(probe_finished_entry.sp % 16, 8);
}

TEST(context, the_entry_returns_to_the_top_of_the_stack) {
  enter_probe(0);
  CHECK_EQ(entered.sp, reinterpret_cast<std::uint64_t>(one.top()) - 24);
  CHECK_EQ(probe_finished_entry.sp, reinterpret_cast<std::uint64_t>(one.top()) - 24);
}

// --- What a switch preserves -----------------------------------------------------------------------------------------

constexpr Registers kMarks = {0x1111'0001, 0x2222'0002, 0x3333'0003, 0x4444'0004, 0x5555'0005, 0x6666'0006};

// Overwrites all callee-saved registers before it switches back.
std::int64_t change_all_registers(void*) {
  constexpr Registers others = {~0u, ~1u, ~2u, ~3u, ~4u, ~5u};
  static Registers after;
  for (;;) probe_switch(&one.context, &home, &others, &after);
}

Registers registers_after_a_round_trip() {
  Registers after = {};
  one.start(change_all_registers, nullptr);
  probe_switch(&home, &one.context, &kMarks, &after);
  return after;
}

TEST(context, rbx_survives_a_switch) {
  CHECK_EQ(registers_after_a_round_trip().rbx, kMarks.rbx);
}
TEST(context, rbp_survives_a_switch) {
  CHECK_EQ(registers_after_a_round_trip().rbp, kMarks.rbp);
}
TEST(context, r12_survives_a_switch) {
  CHECK_EQ(registers_after_a_round_trip().r12, kMarks.r12);
}
TEST(context, r13_survives_a_switch) {
  CHECK_EQ(registers_after_a_round_trip().r13, kMarks.r13);
}
TEST(context, r14_survives_a_switch) {
  CHECK_EQ(registers_after_a_round_trip().r14, kMarks.r14);
}
TEST(context, r15_survives_a_switch) {
  CHECK_EQ(registers_after_a_round_trip().r15, kMarks.r15);
}

TEST(context, the_saved_registers_stand_where_the_layout_says) {
  Registers after;
  one.start(bounce, &one);
  probe_switch(&home, &one.context, &kMarks, &after);
  CHECK_EQ(home.rbx, kMarks.rbx);
  CHECK_EQ(home.rbp, kMarks.rbp);
  CHECK_EQ(home.r12, kMarks.r12);
  CHECK_EQ(home.r13, kMarks.r13);
  CHECK_EQ(home.r14, kMarks.r14);
  CHECK_EQ(home.r15, kMarks.r15);
}

TEST(context, the_stack_pointer_is_the_same_after_a_switch) {
  one.start(bounce, &one);
  const std::uint64_t before = janus::arch::stack_pointer();
  janus_context_switch(&home, &one.context);
  CHECK_EQ(janus::arch::stack_pointer(), before);
}

// Not a leaf function, so no part of its frame lies below rsp (in the red zone).
std::uint64_t leap_there_and_back() {
  const std::uint64_t before = janus::arch::stack_pointer();
  janus::arch::switch_jmp(&home, &one.context);
  CHECK_EQ(janus::arch::stack_pointer(), before);
  return before;
}

TEST(context, a_switch_by_jump_comes_back_as_a_call_does) {
  one.start(bounce, &one);
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t before = leap_there_and_back();
    CHECK_EQ(home.sp + 8, before);
  };
}

std::int64_t round_up_and_bounce(void*) {
  set_mxcsr(kDefaultMxcsr | kRoundUp);
  set_fcw(kDefaultFcw | kRoundUpX87);
  for (;;) {
    janus_context_switch(&one.context, &home);
    if ((mxcsr() & kMxcsrControlBits) != (kDefaultMxcsr | kRoundUp) || fcw() != (kDefaultFcw | kRoundUpX87))
      __builtin_trap();
  }
}

TEST(context, every_fiber_has_its_own_rounding) {
  for (const bool quickly : {false, true}) {
    janus_loads_mxcsr_quickly = quickly;
    one.start(round_up_and_bounce, nullptr);
    for (int i = 0; i < 3; ++i) {
      janus_context_switch(&home, &one.context);
      CHECK_EQ(mxcsr() & kMxcsrControlBits, kDefaultMxcsr);
      CHECK_EQ(fcw(), kDefaultFcw);
    }
  }
}

std::int64_t only_x87_differs(void*) {
  set_fcw(kDefaultFcw | kRoundUpX87);
  for (;;) janus_context_switch(&one.context, &home);
}

TEST(context, a_difference_in_the_x87_word_alone_is_seen) {
  one.start(only_x87_differs, nullptr);
  janus_context_switch(&home, &one.context);
  CHECK_EQ(fcw(), kDefaultFcw);
  CHECK_EQ(one.context.fcw, kDefaultFcw | kRoundUpX87);
}

std::int64_t divide_by_zero_unheard(void*) {
  // masked: leaves only the flag
  asm volatile("fldz; fld1; fdiv %%st(1), %%st; fstp %%st; fstp %%st" : : : "st", "st(1)");
  for (;;) janus_context_switch(&one.context, &home);
}

TEST(context, a_fiber_that_traps_division_is_not_hit_by_the_division_of_another) {
  one.start(divide_by_zero_unheard, nullptr);
  set_fcw(kDefaultFcw & ~0x4);  // division by zero traps
  janus_context_switch(&home, &one.context);
  asm volatile("fwait");  // would raise an exception if the other fiber's flag were still set
  CHECK_EQ(fcw(), kDefaultFcw & ~0x4);
  set_fcw(kDefaultFcw);
}

TEST(context, the_target_is_only_read) {
  one.start(bounce, &one);
  const Context before = one.context;
  Context copy = one.context;
  janus_context_switch(&home, &copy);  // bounce() switches back from one.context, not from the copy
  auto* a = reinterpret_cast<const unsigned char*>(&before);
  auto* b = reinterpret_cast<const unsigned char*>(&copy);
  for (std::size_t i = 0; i < sizeof(Context); ++i) REQUIRE(a[i] == b[i]);
}

TEST(context, the_bases_of_fs_and_gs_stay_with_the_thread) {
  // Read through memory, since user code may not be allowed to use rdgsbase: the canary word, which every thread has.
  std::uint64_t before, after;
  asm volatile("mov %%fs:0x28, %0" : "=r"(before));
  one.start(bounce, &one);
  void* slot = janus::platform::worker_slot();
  janus_context_switch(&home, &one.context);
  asm volatile("mov %%fs:0x28, %0" : "=r"(after));
  CHECK_EQ(before, after);
  CHECK(janus::platform::worker_slot() == slot);
}

TEST(context, switching_to_oneself_returns_at_once) {
  Context self = {};
  Registers after = {};
  probe_switch(&self, &self, &kMarks, &after);
  CHECK(after == kMarks);
}

// --- Stacks ----------------------------------------------------------------------------------------------------------

TEST(context, a_switch_and_an_entry_write_a_few_words_of_the_stack) {
  for (auto& byte : one.stack) byte = std::byte{0x77};
  enter_probe(0);
  for (std::size_t i = 0; i + 256 < sizeof one.stack; ++i) REQUIRE(one.stack[i] == std::byte{0x77});
}

}  // namespace

janus::test::Entry probe_finished_entry;
void (*probe_finished_next)(std::int64_t);
