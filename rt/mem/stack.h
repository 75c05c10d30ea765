// SPDX-License-Identifier: Apache-2.0
// rt/mem/stack.h — one fiber stack, and how its memory is laid out (docs/decisions/0282):
//
//     guard | usable: at least the class's size below the base frame | base frame | record | colour
//     ^ base  ^ lowest, limit                                        start ^         ^ Stack
//
// Where the machine can remove and make guards at any time, a stack may grow:
//
//     guard | what it may grow into, guarded for now | usable | base frame | record | colour
//     ^ base  ^ lowest                               ^ limit       start ^        ^ Stack
//
// The record, the base frame and the first frames of a shallow task share the top page, the only one that is touched.
// The colour moves all of them down by a number of cache lines that differs from stack to stack: otherwise the tops of
// a thousand stacks would share one set of the first-level cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/base/watched.h"
#include "rt/mem/pages.h"
#include "rt/platform.h"

namespace janus {

inline constexpr unsigned kStackClasses = 14;  // 8 KiB * 2^n, up to 64 MiB
inline constexpr std::size_t kMinStackBytes = 8192;
inline constexpr std::size_t kMaxStackBytes = kMinStackBytes << (kStackClasses - 1);
inline constexpr std::size_t kMaxStackGrowth = std::size_t{8} << 20;
inline constexpr std::size_t kMaxStackReservation = kMaxStackBytes + kMaxStackGrowth;  // the most that any stack has

[[nodiscard]] constexpr std::size_t stack_class_bytes(unsigned size_class) noexcept {
  return kMinStackBytes << size_class;
}
// The smallest class of at least `bytes`; kStackClasses: there is none.
[[nodiscard]] constexpr unsigned stack_class_for(std::size_t bytes) noexcept {
  unsigned size_class = 0;
  while (size_class < kStackClasses && stack_class_bytes(size_class) < bytes) size_class++;
  return size_class;
}

// Larger stacks are in no worker's cache: each is taken from the shared pool and handed back to it, and its pages to the
// kernel.
inline constexpr unsigned kLargestCachedClass = 7;

// The bytes above the class's size: for colour, record and base frame.
inline constexpr std::size_t kStackTopBytes = kPageBytes + kWatchersStackBytes;
inline constexpr unsigned kStackColours = 24;
inline constexpr std::size_t kStackColourBytes = 64;

// A frame larger than a page can skip a guard of one page; from class size 64 KiB on, where address space matters less,
// it would have to skip 64 KiB.
[[nodiscard]] constexpr std::size_t stack_guard_bytes(unsigned size_class) noexcept {
  return stack_class_bytes(size_class) >= 65536 ? 65536 : kPageBytes;
}

// The usable bytes of each stack of a class: at first, and at most. They differ if the stacks grow.
struct StackExtent {
  std::size_t initial;
  std::size_t most;
};
[[nodiscard]] constexpr StackExtent fixed_extent(unsigned size_class) noexcept {
  return {stack_class_bytes(size_class), stack_class_bytes(size_class)};
}
inline constexpr std::size_t kMaxInitialBytes = 65536;
// The extent of stacks on which a task may grow to `most` bytes. A task on a stack of the smallest class runs alone. On
// a larger one its children may run as well, within the class's size, and the last of them may grow by `most` from
// there.
[[nodiscard]] constexpr StackExtent growing_extent(unsigned size_class, std::size_t most) noexcept {
  const std::size_t bytes = stack_class_bytes(size_class);
  const std::size_t first = most < kMaxInitialBytes ? most : kMaxInitialBytes;
  return {bytes < first ? bytes : first, size_class == 0 ? (bytes < most ? most : bytes) : bytes + most};
}
[[nodiscard]] constexpr std::size_t stack_stride(unsigned size_class, const StackExtent& extent) noexcept {
  return stack_guard_bytes(size_class) + extent.most + kStackTopBytes;
}

// The record of a stack. Valid from take() to give(); `fiber` and `owner` keep their values while the stack is warm.
struct alignas(64) Stack {
  std::byte* limit;      // lowest usable byte; extend_stack() and retract_stack() move it
  std::byte* start;      // 16-aligned: the initial rsp
  Stack* next;           // for the holder's use
  void* fiber;           // the sanitizer's identifier; nullptr if the stack is new or was cold (StackPool::on_cold)
  void* owner;           // for the holder's use
  std::uint64_t canary;  // the value of the canary words of a stack without a guard page
  std::uint32_t slab;
  std::uint32_t index;  // in the slab
  std::uint8_t size_class;
  platform::Guard guard;
  bool is_out;  // between take() and give(); maintained only if assertions are on
  std::uint8_t reserved[5];
};
static_assert(sizeof(Stack) == 64);

// The end of the class's size: the same distance below `start` for any colour. A stack that cannot grow is usable at
// least down to there.
[[nodiscard]] inline std::byte* end_of_class(const Stack& stack) noexcept {
  constexpr std::size_t kMinTop = kStackTopBytes - sizeof(Stack) - (kStackColours - 1) * kStackColourBytes;
  return stack.start - stack_class_bytes(stack.size_class) - kMinTop;
}

}  // namespace janus
