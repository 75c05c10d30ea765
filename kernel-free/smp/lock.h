// SPDX-License-Identifier: Apache-2.0
// lock.h — for short sections of the machine, taken with interrupts off.
// INVARIANT no-wait-is-deaf: whoever waits with interrupts off answers, while it waits, what other CPUs ask of this one
// (requests.h). So somebody who holds a lock may wait for all CPUs to answer.
// INVARIANT no-fault-in-a-section: the stack below us is touched before the lock is taken, since a page that is filled
// at its first touch takes locks itself; what a caller gave us is never touched inside. Only the outermost section
// touches the stack: to look so far below a frame of an inner one would be the fault that must not be.
#pragma once

#include <atomic>
#include <cstdint>

#include <arch/cpu.h>

#include "kernel-free/cpu/instructions.h"
#include "kernel-free/smp/requests.h"

namespace janus::bare {

// Our own functions below the outermost section need less than this of the stack.
inline constexpr int kSectionStack = 1024;

// As if so much more were in use: where a stack grows, it then does.
template <int kBytes>
[[gnu::always_inline]] inline void touch_stack() noexcept {
  asm volatile("subq %0, %%rsp\n\ttestb $0, (%%rsp)\n\taddq %0, %%rsp" : : "i"(kBytes) : "cc", "memory");
}

class Lock {
 public:
  void lock() noexcept {
    while (held_.exchange(true, std::memory_order_acquire)) {  // pairs with unlock()
      while (held_.load(std::memory_order_relaxed)) wait_a_moment();
    }
  }
  [[nodiscard]] bool try_lock() noexcept { return !held_.exchange(true, std::memory_order_acquire); }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

// Interrupts are off as long as it lives, and what a section needs of the stack is there. A task without so much left
// overflows here, where nothing is held.
template <int kBytes>
class QuietWithin {
 public:
  QuietWithin() noexcept : flags_(read_flags()) {
    if ((flags_ & kFlagInterrupts) == 0) return;  // inside another, or in a trap, whose stack is all there
    touch_stack<kBytes>();
    interrupts_off();
  }
  ~QuietWithin() {
    if ((flags_ & kFlagInterrupts) != 0) interrupts_on();
  }
  QuietWithin(const QuietWithin&) = delete;
  QuietWithin& operator=(const QuietWithin&) = delete;

 private:
  std::uint64_t flags_;
};
using Quiet = QuietWithin<kSectionStack>;

class Hold {
 public:
  explicit Hold(Lock& lock) noexcept : lock_(lock) { lock_.lock(); }
  ~Hold() { lock_.unlock(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  Quiet quiet_;
  Lock& lock_;
};

}  // namespace janus::bare
