// SPDX-License-Identifier: Apache-2.0
// thread.h — a thread, as platform::start_thread() makes it. It stays on its CPU for life. Usually each CPU has one
// thread besides its idle thread, and halts in it; several threads take turns (threads.cpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kernel-free/cpu/trap_frame.h"
#include "kernel-free/cpu/vector_state.h"
#include "rt/platform.h"

namespace janus::bare {

struct Cpu;

// The record of a thread; its address is the CPU's fs base while the thread runs. Compiled user code uses two offsets
// of it: its own address at 0 and the stack protector's canary at 0x28, which is the same on all threads, because a
// function may begin on one and end on another.
struct alignas(64) Thread {
  Thread* self;
  std::uint64_t unused[4];
  std::uint64_t canary;

  Cpu* cpu;
  Thread* next;   // ring of the CPU's threads, under the CPU's threads_lock
  bool is_idle;   // the thread that its CPU runs when no other can run
  bool is_dead;   // its CPU frees it after switching to another thread
  bool in_fault;  // it runs on its fault stack
  std::uint64_t fault_address;
  char name[16];

  std::uint64_t runs_since_ns;  // valid while it runs

  // Its alarm (platform::open_alarm), which its CPU's timer rings while the thread runs and does not wait.
  std::uint64_t alarm_at_ns, alarm_period_ns;  // period 0: it is not set
  bool alarm_rings;                            // the handler is to be called at the end of the interrupt
  bool is_staying;                             // it waits, in stay_while()

  // Saved while it does not run.
  TrapFrame frame;
  std::uint64_t gs_base;
  std::uint64_t ran_ns;  // how long it had run when it was last switched away from
  std::uint64_t preemptions;

  // kAwake --the thread itself, as it enters a bucket (waiting.cpp)--> kWaiting
  // kWaiting --wake(), or the thread itself once until_ns has passed; it then leaves the bucket--> kAwake
  // An idle thread is always kWaiting, in no bucket. A thread that ends is kAwake, sets is_dead, and is freed by its CPU
  // as soon as another thread runs there.
  enum State : std::uint32_t { kAwake, kWaiting };
  std::atomic<std::uint32_t> state;
  const std::atomic<std::uint32_t>* word;
  std::uint64_t until_ns;
  Thread *next_waiting, *previous_waiting;  // list of the word's bucket, under the bucket's lock

  std::byte* fault_stack_top;  // nullptr: a fault of this thread ends the machine
  platform::ThreadEntry entry;
  void* arg;
  std::byte* mapping;
  std::size_t mapping_bytes;

  VectorState vectors;  // saved while it does not run
};
static_assert(offsetof(Thread, self) == 0 && offsetof(Thread, canary) == 0x28 && sizeof(Thread) <= 4096);

[[nodiscard]] inline Thread& this_thread() noexcept {
  Thread* thread;
  asm volatile("movq %%fs:0, %0" : "=r"(thread));
  return *thread;
}

}  // namespace janus::bare
