// SPDX-License-Identifier: Apache-2.0
// worker_slot.h — access to the block that the gs base points to. Every access is an instruction of its own that the
// compiler can neither merge nor keep, since a task may wake up on another worker, where the same %gs:8 is that
// worker's. rt/base/worker_slot.h defines the slot's contents; the words at the offsets here are all 64 bits wide.
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus::arch {

// The slot's own address, which its first word holds. Faults where the gs base is 0: not for code outside tasks.
[[nodiscard, gnu::always_inline]] inline void* slot_self() noexcept {
  void* self;
  asm volatile("movq %%gs:0, %0" : "=r"(self));
  return self;
}

// "memory": the same words are also reached through slot_self().
template <std::size_t Offset>
[[nodiscard, gnu::always_inline]] inline std::uint64_t slot_load() noexcept {
  std::uint64_t value;
  asm volatile("movq %%gs:%c1, %0" : "=r"(value) : "i"(Offset) : "memory");
  return value;
}

template <std::size_t Offset>
[[gnu::always_inline]] inline void slot_store(std::uint64_t value) noexcept {
  asm volatile("movq %0, %%gs:%c1" : : "r"(value), "i"(Offset) : "memory");
}

// Subtracts, and returns whether the result is negative: the yield check on the fuel.
template <std::size_t Offset>
[[nodiscard, gnu::always_inline]] inline bool slot_sub_is_negative(std::int64_t amount) noexcept {
  bool negative;
  asm volatile("subq %1, %%gs:%c2" : "=@ccl"(negative) : "er"(amount), "i"(Offset) : "memory");
  return negative;
}

// Whether the stack pointer is below the address in the slot.
template <std::size_t Offset>
[[nodiscard, gnu::always_inline]] inline bool stack_is_below_slot() noexcept {
  bool below;
  asm volatile("cmpq %%gs:%c1, %%rsp" : "=@ccb"(below) : "i"(Offset));
  return below;
}

// FSGSBASE; only if the kernel allows these instructions in user code, else they are illegal.
[[nodiscard, gnu::always_inline]] inline std::uint64_t read_gs_base() noexcept {
  std::uint64_t base;
  asm volatile("rdgsbase %0" : "=r"(base));
  return base;
}

[[gnu::always_inline]] inline void write_gs_base(std::uint64_t base) noexcept {
  asm volatile("wrgsbase %0" : : "r"(base) : "memory");
}

// Unique to each thread of a C library: the psABI puts it at %fs:0.
[[nodiscard, gnu::always_inline]] inline const void* thread_pointer() noexcept {
  const void* pointer;
  asm("movq %%fs:0, %0" : "=r"(pointer));
  return pointer;
}

[[nodiscard, gnu::always_inline]] inline std::uint64_t stack_pointer() noexcept {
  std::uint64_t sp;
  asm volatile("movq %%rsp, %0" : "=r"(sp));
  return sp;
}

// Touches the guard that ends at `limit`, of the present stack, with rsp lowered by `bytes`, so that the stack counts
// as used down to there.
[[gnu::always_inline]] inline void meet_guard(const void* limit, std::size_t bytes) noexcept {
  asm volatile("subq %1, %%rsp\n\ttestb $0, -1(%0)\n\taddq %1, %%rsp" : : "r"(limit), "er"(bytes) : "cc", "memory");
}

}  // namespace janus::arch
