// SPDX-License-Identifier: Apache-2.0
// probe.h — reads registers where C++ cannot: around a switch, at the entry of a function, and around an abandoned
// call.
#pragma once

#include <cstdint>

#include <arch/context.h>

namespace janus::test {

// The callee-saved registers without rsp.
struct Registers {
  std::uint64_t rbx, rbp, r12, r13, r14, r15;
  friend bool operator==(const Registers&, const Registers&) = default;
};
static_assert(sizeof(Registers) == 48);

// What a function finds in its registers and control words when it is entered.
struct Entry {
  std::uint64_t sp, rbp, flags, argument;
  std::uint32_t mxcsr;
  std::uint16_t fcw;
  std::uint16_t unused;
  std::int64_t result;  // the value that probe_entry is to return
};
static_assert(sizeof(Entry) == 48);

// The control words of SSE and x87.
inline std::uint32_t mxcsr() noexcept {
  std::uint32_t word;
  asm volatile("stmxcsr %0" : "=m"(word));
  return word;
}
inline std::uint16_t fcw() noexcept {
  std::uint16_t word;
  asm volatile("fnstcw %0" : "=m"(word));
  return word;
}
inline void set_mxcsr(std::uint32_t word) noexcept {
  asm volatile("ldmxcsr %0" : : "m"(word));
}
inline void set_fcw(std::uint16_t word) noexcept {
  asm volatile("fldcw %0" : : "m"(word));
}
inline constexpr std::uint32_t kRoundUp = 0x4000;     // mxcsr: round towards +infinity
inline constexpr std::uint16_t kRoundUpX87 = 0x0800;  // x87 control word: the same

}  // namespace janus::test

extern "C" {
// Calls janus_context_switch(from, to) with `before` in the callee-saved registers; stores their values after its
// return to `after`.
void probe_switch(janus::arch::Context* from, const janus::arch::Context* to, const janus::test::Registers* before,
                  janus::test::Registers* after);

// The same for janus_task_call(fn, arg, frame_sp); returns its result.
std::int64_t probe_task_call(std::int64_t (*fn)(void*), void* arg, std::uint64_t* frame_sp,
                             const janus::test::Registers* before, janus::test::Registers* after);

// An entry function: records how it was entered in the Entry that `arg` points to, and returns that Entry's `result`.
std::int64_t probe_entry(void* arg);

// A `finished` function: records how it was entered, then calls probe_finished_next(value), which must not return.
void probe_finished(std::int64_t value);
extern janus::test::Entry probe_finished_entry;
extern void (*probe_finished_next)(std::int64_t value);

// Overwrites every callee-saved register, sets DF, then calls next(arg), which must not return.
[[noreturn]] void probe_wreck_registers(void (*next)(void*), void* arg);
}
