// SPDX-License-Identifier: Apache-2.0
// rt/mem/stack.h — one fiber stack, and how its memory is laid out:
//
//     guard | usable: at least the class's size below the base frame | base frame | record | colour
//     ^ base  ^ lowest, limit                                        start ^         ^ Stack
//
// Where guards can be taken away and made again it may grow:
//
//     guard | what it may grow into, all of it guard | usable | base frame | record | colour
//     ^ base  ^ lowest                               ^ limit       start ^        ^ Stack
//
// The record, the base frame and the first frames of a shallow task share the top page, the only one touched. The
// colour moves all of them down by some cache lines, different from stack to stack: the tops of a thousand stacks would
// otherwise lie in one set of the first-level cache.
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
inline constexpr std::size_t kMostStackBytes =
    kMaxStackBytes + (std::size_t{8} << 20);  // none has more: class and growth

[[nodiscard]] constexpr std::size_t stack_class_bytes(unsigned size_class) noexcept {
  return kMinStackBytes << size_class;
}
// The smallest class of at least `bytes`; kStackClasses: there is none.
[[nodiscard]] constexpr unsigned stack_class_for(std::size_t bytes) noexcept {
  unsigned size_class = 0;
  while (size_class < kStackClasses && stack_class_bytes(size_class) < bytes) size_class++;
  return size_class;
}

// What lies above the class's size: colour, record, base frame.
inline constexpr std::size_t kStackTopBytes = kPageBytes + kWatchersStackBytes;
inline constexpr unsigned kStackColours = 24;
inline constexpr std::size_t kStackColourBytes = 64;

// One page can be leapt over by a large frame; where address space is not the point, a switch_jmp must be 64 KiB.
[[nodiscard]] constexpr std::size_t stack_guard_bytes(unsigned size_class) noexcept {
  return stack_class_bytes(size_class) >= 65536 ? 65536 : kPageBytes;
}

// Of the stacks of a class: usable at first, and at most. Not the same: they grow.
struct StackExtent {
  std::size_t initial;
  std::size_t most;
};
[[nodiscard]] constexpr StackExtent fixed_extent(unsigned size_class) noexcept {
  return {stack_class_bytes(size_class), stack_class_bytes(size_class)};
}
inline constexpr std::size_t kMostInitialBytes = 65536;
// Where a task may grow up to `most`. What runs on a stack of the smallest class runs alone; on a larger one others may
// begin, too, as long as the class has room for all of theirs, and each of these may grow as far from there.
[[nodiscard]] constexpr StackExtent growing_extent(unsigned size_class, std::size_t most) noexcept {
  const std::size_t bytes = stack_class_bytes(size_class);
  const std::size_t first = most < kMostInitialBytes ? most : kMostInitialBytes;
  return {bytes < first ? bytes : first, size_class == 0 ? (bytes < most ? most : bytes) : bytes + most};
}
[[nodiscard]] constexpr std::size_t stack_stride(unsigned size_class, const StackExtent& extent) noexcept {
  return stack_guard_bytes(size_class) + extent.most + kStackTopBytes;
}

// The record of a stack. Valid from take() to give(); `fiber` and `owner` keep their values while the stack is warm.
struct alignas(64) Stack {
  std::byte* limit;      // lowest usable byte; StackPool::extend() and retract() move it
  std::byte* start;      // 16-aligned: where rsp begins
  Stack* next;           // the holder's
  void* fiber;           // a sanitizer's; nullptr in a stack that is new or was cold (StackPool::on_cold)
  void* owner;           // the holder's
  std::uint64_t canary;  // what check words hold where nothing faults
  std::uint32_t slab;
  std::uint32_t index;  // in the slab
  std::uint8_t size_class;
  platform::Guard guard;
  bool is_out;  // somebody holds it; kept where assertions are on
  std::uint8_t reserved[5];
};
static_assert(sizeof(Stack) == 64);

inline constexpr std::size_t kCanaryWords = 8;

// Where the class's own size ends, whatever the stack's colour: the same distance below the start of each. It is what a
// stack that cannot grow has at least.
[[nodiscard]] inline std::byte* end_of_class(const Stack& stack) noexcept {
  constexpr std::size_t kLeastTop = kStackTopBytes - sizeof(Stack) - (kStackColours - 1) * kStackColourBytes;
  return stack.start - stack_class_bytes(stack.size_class) - kLeastTop;
}

}  // namespace janus
