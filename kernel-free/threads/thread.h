// SPDX-License-Identifier: Apache-2.0
// thread.h — what start_thread makes. A thread stays on its CPU for life. As a rule each CPU has one besides its idle
// thread, and halts in it; where there are more, they take turns (threads.cpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kernel-free/cpu/vector_state.h"
#include "kernel-free/traps/trap_frame.h"
#include "rt/platform.h"

namespace janus::bare {

struct Cpu;

inline constexpr std::size_t kTaskThreadStack = 256 * 1024, kFirstThreadStack = 1024 * 1024;

// The fs base of its CPU while it runs. Compiled user code knows two offsets of it: its own address at 0 and the stack
// protector's canary at 0x28, which is the same on all threads, because a function may begin on one and end on another.
struct alignas(64) Thread {
  Thread* self;
  std::uint64_t unused[4];
  std::uint64_t canary;

  Cpu* cpu;
  Thread* next;   // ring of the CPU's threads, under its lock
  bool is_idle;   // the one that a CPU falls back to
  bool is_dead;   // its CPU frees it when it has left it
  bool in_fault;  // on its fault stack
  std::uint64_t fault_address;
  char name[16];

  std::uint64_t runs_since_ns;  // while it runs

  // While it does not run.
  TrapFrame frame;
  std::uint64_t gs_base;
  std::uint64_t ran_ns;  // until it was last put away

  // While it waits: kAwake -> kWaiting by itself, back by whoever wakes it or by itself when the time has come.
  enum State : std::uint32_t { kAwake, kWaiting };
  std::atomic<std::uint32_t> state;
  const std::atomic<std::uint32_t>* word;
  std::uint64_t until_ns;
  Thread *next_waiting, *previous_waiting;  // in the word's bucket, under its lock

  std::byte* fault_stack_top;  // 0: faults here are the machine's own
  platform::ThreadEntry entry;
  void* arg;
  std::byte* mapping;
  std::size_t mapping_bytes;

  VectorState vectors;  // while it does not run
};
static_assert(offsetof(Thread, self) == 0 && offsetof(Thread, canary) == 0x28 && sizeof(Thread) <= 4096);

// Memory for a thread with a stack of so many bytes, ready to run entry(arg) on that CPU; nullptr: no memory.
[[nodiscard]] Thread* make_thread(std::size_t stack_bytes, platform::ThreadEntry entry, void* arg, Cpu& cpu,
                                  const char* name) noexcept;
void free_thread(Thread& thread) noexcept;

[[nodiscard]] inline Thread& this_thread() noexcept {
  Thread* thread;
  asm volatile("movq %%fs:0, %0" : "=r"(thread));
  return *thread;
}

}  // namespace janus::bare
