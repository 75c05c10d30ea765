// SPDX-License-Identifier: Apache-2.0
// task_call.h — calling a task's function so that it can be abandoned, and switching to an empty stack.
// docs/decisions/0003
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace janus::arch {

// The frame of janus_task_call; `*frame_sp` is its address. Written by task_call.S, read by it and by stack walkers:
// rbp points at `rbp`, so it is also an ordinary link of the frame pointer chain.
struct TaskFrame {
  std::uint32_t mxcsr;
  std::uint16_t fcw;
  std::uint16_t reserved;
  std::uint64_t r15;
  std::uint64_t r14;
  std::uint64_t r13;
  std::uint64_t r12;
  std::uint64_t rbx;
  std::uint64_t rbp;
  std::uint64_t return_ip;
};

static_assert(sizeof(TaskFrame) == 64 && std::is_trivial_v<TaskFrame> && std::is_standard_layout_v<TaskFrame>);
static_assert(offsetof(TaskFrame, rbp) + 8 == offsetof(TaskFrame, return_ip), "a link of the frame pointer chain");
static_assert(offsetof(TaskFrame, return_ip) % 16 == 8, "the task's function is called with rsp on a multiple of 16");

}  // namespace janus::arch

extern "C" {
// Calls fn(arg) with default mxcsr and x87 control word and DF clear, and returns its result. The caller's control
// words are restored afterwards. Before fn starts, *frame_sp receives the argument for janus_task_abandon, which is
// valid until this call returns.
std::int64_t janus_task_call(std::int64_t (*fn)(void*), void* arg, std::uint64_t* frame_sp);

// As janus_task_call, but leaves the control words alone: fn sees the caller's. If the call is abandoned, it returns
// with the default ones.
std::int64_t janus_half_call(void* arg, std::int64_t (*fn)(void*), std::uint64_t* frame_sp);

// The offsets from janus_task_call of the instructions that call fn, there and in janus_half_call. Such an instruction
// itself faults if fn is not a canonical address.
extern const std::uint32_t janus_task_call_fn_at[2];

// Leaves every frame below the janus_task_call or janus_half_call that gave `frame_sp`; that call returns `value`. May be called from any
// stack, on any thread that may run that call's caller; once per call. No destructor runs.
[[noreturn]] void janus_task_abandon(std::uint64_t frame_sp, std::int64_t value);

// Calls fn(arg), which must not return, on the empty stack below `top` (rounded down to 16). The stack that the caller
// is on is not used again.
[[noreturn]] void janus_run_on_stack(std::byte* top, void (*fn)(void*), void* arg);
}
