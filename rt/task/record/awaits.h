// SPDX-License-Identifier: Apache-2.0
// rt/task/record/awaits.h — what a task waits for, where others can read it (Task::awaits), and the words of locks in
// users' memory, which name their holders. A task waits for at most one task or lock, so these form chains.
// docs/decisions/0333
#pragma once

#include <atomic>
#include <cstdint>

#include <arch/user_copy.h>
#include "rt/task/record/holder_word.h"
#include "rt/task/record/runtime.h"

namespace janus {

// Another task may get the record meanwhile.
inline std::uint64_t id_of(const Task& task) noexcept {
  return std::atomic_ref(const_cast<Task&>(task).id).load(std::memory_order_relaxed);
}

inline std::uint32_t holdings_of(const Task& task) noexcept {
  const std::uint32_t number =
      static_cast<std::uint32_t>(id_of(task) << 1) | task.holdings.load(std::memory_order_relaxed);
  return number << HolderWord::kHolderShift;
}

// HolderWord::kHolder for the running task.
inline std::uint64_t holder_bits(const Runtime& runtime, const Task& self) noexcept {
  const std::uint64_t record = runtime.number << HolderWord::kIndexBits | (runtime.tasks.index_of(&self) + 1);
  return record << 32 | holdings_of(self);
}
// The record of the holder that a word names; nullptr: of none, or of another runtime. What it serves now is another
// question: is_named().
inline Task* find_holder(const Runtime& runtime, std::uint64_t word) noexcept {
  const auto record = static_cast<std::uint32_t>(word >> 32);
  if (record >> HolderWord::kIndexBits != runtime.number) return nullptr;
  return static_cast<Task*>(runtime.tasks.at((record & ((1u << HolderWord::kIndexBits) - 1)) - 1));
}
// Whether the record serves the task that the word names, which still may hold what it has locked. It may cease to at
// any time, unless its lock is held and it has not ended.
inline bool is_named(const Task& task, std::uint64_t word) noexcept {
  return holdings_of(task) == static_cast<std::uint32_t>(word & HolderWord::kHolder);
}

// The kinds of what a task waits for.
enum class AwaitedKind : std::uint8_t {
  kNothing,
  kMutex,   // the word at the address is a HolderWord, as for kWriter and kOnce
  kTask,    // the address is that of its record
  kWriter,  // of a reader-writer lock
  kOnce,
  kCondition,  // no task in particular is waited for, as in what follows
  kSemaphore,
  kCount,  // a barrier, an event or a wait group
};

// The value of Task::awaits: 3 bits of the kind, below an address of 48 bits. Above it, for kTask the lowest bits of the
// task's number; else a number that differs from wait to wait.
struct Awaits {
  static constexpr unsigned kAddressBits = 48;
  static constexpr std::uint64_t kKindMask = 7;
  static constexpr std::uint64_t kAddressMask = ((std::uint64_t{1} << kAddressBits) - 1) & ~kKindMask;

  std::uint64_t bits;

  static Awaits make(AwaitedKind kind, const void* what, std::uint64_t number) noexcept {
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(what) & kAddressMask;
    return {number << kAddressBits | address | static_cast<std::uint64_t>(kind)};
  }
  static Awaits of(const Task& task) noexcept {
    return {std::atomic_ref(const_cast<Task&>(task).awaits).load(std::memory_order_acquire)};
  }

  [[nodiscard]] AwaitedKind kind() const noexcept { return static_cast<AwaitedKind>(bits & kKindMask); }
  [[nodiscard]] std::uint64_t address() const noexcept { return bits & kAddressMask; }

  // The task that has to act before such a wait ends; nullptr: none in particular, or it has ended.
  [[nodiscard]] Task* task(const Runtime& runtime) const noexcept {
    switch (kind()) {
      case AwaitedKind::kTask: {
        auto* const task = reinterpret_cast<Task*>(address());
        return (id_of(*task) ^ bits >> kAddressBits) << kAddressBits == 0 ? task : nullptr;
      }
      case AwaitedKind::kMutex:
      case AwaitedKind::kWriter:
      case AwaitedKind::kOnce: {
        std::uint64_t word = 0;
        if (!arch::load_user(reinterpret_cast<const void*>(address()), word)) return nullptr;
        Task* const holder = find_holder(runtime, word);
        return holder != nullptr && is_named(*holder, word) ? holder : nullptr;
      }
      default:
        return nullptr;
    }
  }
};

}  // namespace janus
