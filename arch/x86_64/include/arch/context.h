// SPDX-License-Identifier: Apache-2.0
// context.h — the saved registers of a stopped fiber, and the switch between two fibers. System V x86-64. The contract
// in full: docs/CONTEXT-SWITCH-INVARIANTS.md. Allocates nothing, knows no task and no scheduler.
// docs/decisions/0002, 0091
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace janus::arch {

// The registers that the psABI calls callee-saved. tests/offsets checks context_switch.S against this layout.
struct Context {
  std::uint64_t sp;
  std::uint64_t rbx;
  std::uint64_t rbp;
  std::uint64_t r12;
  std::uint64_t r13;
  std::uint64_t r14;
  std::uint64_t r15;
  std::uint32_t mxcsr;     // SSE control and status
  std::uint16_t fcw;       // x87 control word
  std::uint16_t reserved;  // never read
};

static_assert(sizeof(Context) == 64 && std::is_trivial_v<Context> && std::is_standard_layout_v<Context>);
static_assert(offsetof(Context, sp) == 0 && offsetof(Context, rbx) == 8 && offsetof(Context, rbp) == 16);
static_assert(offsetof(Context, r12) == 24 && offsetof(Context, r13) == 32);
static_assert(offsetof(Context, r14) == 40 && offsetof(Context, r15) == 48);
static_assert(offsetof(Context, mxcsr) == 56 && offsetof(Context, fcw) == 60);

// The control words at a process's start: all exceptions masked, round to nearest, x87 in extended precision.
inline constexpr std::uint32_t kDefaultMxcsr = 0x1f80;
inline constexpr std::uint16_t kDefaultFcw = 0x037f;
// The bits of mxcsr that a callee preserves; the rest are sticky exception flags, which no call preserves.
inline constexpr std::uint32_t kMxcsrControlBits = 0xffc0;

// Chooses whether janus_context_switch always loads mxcsr or first compares it, whichever is faster on this processor.
// May be called any number of times, by any thread. Switches are correct without it.
void choose_switch() noexcept;

// Makes `context` a fiber that, switched to, runs entry(arg) on the stack below `stack_top` (rounded down to 16), then
// calls finished() with its result, which must not return. Writes 24 bytes of that stack. A fresh fiber has default
// mxcsr and x87 control word.
void make_context(Context& context, std::byte* stack_top, std::int64_t (*entry)(void*), void* arg,
                  void (*finished)(std::int64_t)) noexcept;

}  // namespace janus::arch

extern "C" {
// Saves the running fiber in `from` and resumes `to`. Returns when a later switch resumes `from`, maybe on another
// thread. `to` is only read; it must not be resumed again before it has been `from` again. from == to returns at once.
void janus_context_switch(janus::arch::Context* from, const janus::arch::Context* to);

// The start of a fresh fiber, and the return address of its entry function: for make_context, debuggers and tests. Not
// to be called.
void janus_fiber_entry();
void janus_fiber_cleanup();
}

namespace janus::arch {

// janus_context_switch without a call, so that the processor's stack of return addresses stays unchanged and predicts
// the next ret correctly: saves some 20 cycles. For code without a red zone (-mno-red-zone).
[[gnu::always_inline]] inline void switch_jmp(Context* from, const Context* to) noexcept {
  asm volatile(
      "leaq 1f(%%rip), %%rdx\n\t"
      "jmp janus_context_switch_jmp\n"
      "1:"
      : "+D"(from), "+S"(to)
      :
      : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
}

}  // namespace janus::arch
