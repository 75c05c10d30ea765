// SPDX-License-Identifier: Apache-2.0
// rt/mem/stack_slab.h — a mapping full of stacks of one class. Groups of up to 64 get their guards together when first
// used, and give back their pages together. The state of a free stack is two bits in its group; its own memory is not
// read, since it may have no pages. docs/decisions/0021, 0022
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rt/mem/stack.h"

namespace janus {

inline constexpr unsigned kBankStacks = 64;

// Guarded by StackDepot::lock_ of its class.
struct StackGroup {
  enum List : std::uint8_t { kUnlisted, kWarm, kCold };

  std::uint64_t free;  // a bit for each stack: it is not held, and in no worker's cache
  std::uint64_t warm;  // of the free ones: it has its pages and a valid record
  StackGroup* next;
  StackGroup* previous;
  std::uint32_t number;  // in its slab
  std::uint8_t stacks;
  std::uint8_t guarded;  // how many stacks, the first ones, have a guard of the kind `guard`
  platform::Guard guard;
  List list;
  bool grows;  // all its stacks can grow: everything below what is usable at first is guarded, too
};
static_assert(sizeof(StackGroup) == 48);

// Header at the start of the slab's mapping; the groups follow it, and the stacks from the next page boundary on.
struct StackSlab {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::byte* stacks;
  std::size_t bytes;  // of the whole mapping
  std::size_t stride;
  StackExtent extent;
  std::uint64_t canary_key;
  std::uint32_t count;
  std::atomic<std::uint32_t> prepared;  // stacks in groups that have been claimed; those behind were never touched
  std::uint32_t number;                 // in the StackTable
  std::uint8_t size_class;

  [[nodiscard]] static constexpr std::size_t header_bytes(std::size_t count) noexcept {
    return round_up(sizeof(StackSlab) + (count + kBankStacks - 1) / kBankStacks * sizeof(StackGroup), kPageBytes);
  }
  [[nodiscard]] static constexpr std::size_t mapped_bytes(std::size_t count, std::size_t stride) noexcept {
    return header_bytes(count) + count * stride;
  }

  [[nodiscard]] StackGroup* groups() noexcept { return reinterpret_cast<StackGroup*>(this + 1); }
  [[nodiscard]] std::byte* base_of(std::uint32_t index) noexcept { return stacks + index * stride; }
  [[nodiscard]] std::byte* lowest_of(std::uint32_t index) noexcept {
    return base_of(index) + stack_guard_bytes(size_class);
  }
  [[nodiscard]] std::byte* limit_of(std::uint32_t index) noexcept {
    const bool grows = groups()[index / kBankStacks].grows;
    return lowest_of(index) + (grows ? extent.most - extent.initial : 0);
  }
  [[nodiscard]] Stack* record_of(std::uint32_t index) noexcept {
    const std::size_t down = sizeof(Stack) + index % kStackColours * kStackColourBytes;
    return reinterpret_cast<Stack*>(base_of(index) + stride - down);
  }
  // The index of the stack that contains the address in its stride (with guard and record); kNone: none.
  [[nodiscard]] std::uint32_t index_at(const void* address) const noexcept {
    const std::uintptr_t offset = address_of(address) - address_of(stacks);
    return offset < count * stride ? static_cast<std::uint32_t>(offset / stride) : kNone;
  }

  void init(std::size_t mapped, std::uint32_t stack_count, unsigned stack_class, const StackExtent& of_class) noexcept;
  // Makes the guards of a group that only the caller accesses.
  void guard_bank(StackGroup& group) noexcept;
  // Makes the top pages of these stacks of a group present, as they are about to be touched.
  void populate(const StackGroup& group, std::uint64_t which) noexcept {
    platform::populate(base_of(group.number * kBankStacks) + stride - kPageBytes, stride, which);
  }
  // Writes the record of a stack; this touches its top page and, if it has no guard, the page of its canary.
  Stack* build(std::uint32_t index) noexcept;
  // Gives back the pages of these stacks of a group, with one call for each run of neighbours.
  void discard(const StackGroup& group, std::uint64_t which) noexcept;

 private:
  [[nodiscard]] bool guard_what_is_to_come(const StackGroup& group) noexcept;
};
static_assert(sizeof(StackSlab) % alignof(StackGroup) == 0);

[[nodiscard]] inline StackSlab* slab_of(StackGroup* group) noexcept {
  return reinterpret_cast<StackSlab*>(group - group->number) - 1;
}

}  // namespace janus
