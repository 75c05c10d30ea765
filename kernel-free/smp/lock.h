// SPDX-License-Identifier: Apache-2.0
// lock.h — spinlocks for the short critical sections of kernel-free, held with interrupts off.
// INVARIANT no-wait-is-deaf: a CPU that waits with interrupts off answers the requests of other CPUs while it waits
// (requests.h). So the holder of a lock may wait for all CPUs to answer.
// INVARIANT no-fault-in-a-section: a section touches the stack that it needs before it takes its lock, since filling a
// page at its first touch takes locks itself. It does not touch a caller's memory (except write_out(), whose lock
// filling never takes). Only the outermost section touches the stack: a touch that far below the frame of an inner
// section would itself be the fault to avoid. docs/decisions/0287
#pragma once

#include <atomic>
#include <cstdint>

#include <arch/cpu.h>

#include "kernel-free/cpu/assert.h"
#include "kernel-free/cpu/instructions.h"
#include "kernel-free/smp/requests.h"

namespace janus::bare {

// The bytes of stack that a section touches, as many as its functions need: for a short hold of a lock, for work on
// page tables, and for a device (device_lock.h) or the console. Unoptimised code needs more.
// tests/arch/stack_need_test.py
#ifdef __OPTIMIZE__
inline constexpr int kSectionStack = 384, kTablesStack = 704, kConsoleStack = 640, kDeviceStack = 1280;
#else
inline constexpr int kSectionStack = 1024, kTablesStack = 1024, kConsoleStack = 1024, kDeviceStack = 3072;
#endif

// Touches the stack kBytes below the stack pointer: a stack that grows on demand then grows that far.
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
  void unlock() noexcept {
    BARE_ASSERT(held_.load(std::memory_order_relaxed));
    held_.store(false, std::memory_order_release);
  }

 private:
  std::atomic<bool> held_{false};
};

[[nodiscard]] inline bool interrupts_are_off() noexcept {
  return (read_flags() & kFlagInterrupts) == 0;
}

// Keeps interrupts off during its lifetime. Touches the kStack bytes of stack that the section needs before: a task
// that has less left overflows here, where it holds no lock.
template <int kStack = kSectionStack>
class IrqOff {
 public:
  IrqOff() noexcept : flags_(read_flags()) {
    if ((flags_ & kFlagInterrupts) == 0) return;  // inside another section, or in a trap, whose stack is present
    touch_stack<kStack>();
    interrupts_off();
  }
  ~IrqOff() {
    if ((flags_ & kFlagInterrupts) != 0) interrupts_on();
  }
  IrqOff(const IrqOff&) = delete;
  IrqOff& operator=(const IrqOff&) = delete;

 private:
  std::uint64_t flags_;
};

// Holds a lock, with interrupts off.
template <int kStack = kSectionStack>
class LockGuard {
 public:
  explicit LockGuard(Lock& lock) noexcept : lock_(lock) { lock_.lock(); }
  ~LockGuard() { lock_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  IrqOff<kStack> irq_off_;
  Lock& lock_;
};

}  // namespace janus::bare
