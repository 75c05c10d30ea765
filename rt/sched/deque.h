// SPDX-License-Identifier: Apache-2.0
// rt/sched/deque.h — the work-stealing deque: one owner pushes and pops at the bottom, any number of thieves steal at
// the top. After the THE protocol of Frigo, Leiserson and Randall (1998): owner and thief compete only for the last
// entry, and there the lock that every thief holds while it steals decides, so pop() needs no atomic read-modify-write
// for any other entry. docs/decisions/0090
//
// INVARIANT deque-once: every pushed entry is taken exactly once, by pop, steal or take_oldest.
//   pop:   1 bottom := b-1   2 fence   3 load top: if top <= b-1, the entry is the owner's. Else decide under the lock.
//   steal: 1 top := t+1      2 fence   3 load bottom: if t+1 <= bottom, the entry is the thief's. Else top := t again.
//   The two fences are totally ordered, so if the owner does not see the thief's claim, the thief sees the owner's.
//   Where the machine has platform::heavy_fence(), the thief executes both fences and the owner needs only a compiler
//   barrier.
//   tests/models/deque_model_test.cpp
#pragma once

#include <cstdint>

#include <arch/cpu.h>
#include "rt/base/atomic.h"
#include "rt/base/lock_rank.h"
#include "rt/platform.h"
#include "rt/sched/path.h"

namespace janus {

struct Runnable;

// A runnable and one bit: whether a wake queued it. Thieves leave such a runnable to the worker that woke it for a
// while (Thieves::defer_to_waker).
class Entry {
 public:
  constexpr Entry() = default;
  static Entry fresh(Runnable* runnable) noexcept { return Entry(reinterpret_cast<std::uintptr_t>(runnable)); }
  static Entry woken(Runnable* runnable) noexcept { return Entry(reinterpret_cast<std::uintptr_t>(runnable) | 1); }
  static constexpr Entry from_bits(std::uintptr_t bits) noexcept { return Entry(bits); }

  explicit operator bool() const noexcept { return bits_ != 0; }
  bool was_woken() const noexcept { return (bits_ & 1) != 0; }
  Runnable* runnable() const noexcept { return reinterpret_cast<Runnable*>(bits_ & ~std::uintptr_t{1}); }
  std::uintptr_t bits() const noexcept { return bits_; }

 private:
  constexpr explicit Entry(std::uintptr_t bits) : bits_(bits) {}
  std::uintptr_t bits_ = 0;
};

class Deque {
 public:
  // Maps pages for a ring of 2^log2_capacity entries. False: no memory.
  [[nodiscard]] bool init(unsigned log2_capacity) noexcept;
  void destroy() noexcept;

  // Owner only. False: the ring is full, and the entry is not queued; the caller calls make_room() next.
  [[nodiscard, gnu::always_inline]] bool try_push(Entry entry) noexcept {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    if (bottom - top_seen_ >= mask_) [[unlikely]]  // one place is left free: a thief's claim may be taken back
      return false;
    slots_[bottom & mask_].store(entry.bits(), std::memory_order_relaxed);
    bottom_.store(bottom + 1, std::memory_order_release);  // pairs with a thief's load of bottom_
    return true;
  }
  // Owner only. Makes sure that the next try_push() finds room. False: the ring is full, and the machine has no memory
  // for a larger one.
  [[nodiscard]] bool make_room() noexcept;
  // Owner only. False: make_room() failed, and the entry is not queued.
  bool push(Entry entry) noexcept { return try_push(entry) || (make_room() && try_push(entry)); }

  // Owner only. Removes and returns the newest entry, or an empty one if there is none.
  template <Path kPath = Path::kGeneral>
  [[gnu::always_inline]] Entry pop() noexcept {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
    if (top_.load(std::memory_order_relaxed) > bottom) return {};  // empty: common when an idle worker looks here
    return take_newest<kPath>(bottom);
  }
  // pop(), for an owner that expects an entry: does not look first whether there is one.
  template <Path kPath>
  [[gnu::always_inline]] Entry pop_expected() noexcept {
    return take_newest<kPath>(bottom_.load(std::memory_order_relaxed) - 1);
  }

  // Owner only.
  [[nodiscard]] bool is_empty() const noexcept {
    return top_.load(std::memory_order_relaxed) >= bottom_.load(std::memory_order_relaxed);
  }

  // Owner only. pop_apart() is pop(), not inlined, for callers that run rarely; put_back() undoes it. There is room, as
  // the entry goes back to the slot that it has just left.
  Entry pop_apart() noexcept;
  void put_back(Entry newest) noexcept;

  // Owner only. The entry that pop() will return after `ahead` other entries, or an empty one. A hint: the entry may
  // already have been stolen.
  Entry upcoming(std::int64_t ahead) const noexcept {
    const std::int64_t index = bottom_.load(std::memory_order_relaxed) - 1 - ahead;
    return index >= top_.load(std::memory_order_relaxed) ? read(index) : Entry{};
  }

  // Owner only. Removes and returns the oldest entry, or an empty one if there is none or a thief holds the lock.
  Entry take_oldest() noexcept;

  enum class Steal : std::uint8_t { kTaken, kEmpty, kLost };
  // Any thread. Removes the oldest entry and stores it in `out`. kLost: another thread holds the lock.
  Steal steal(Entry& out) noexcept;

  // Any thread, a hint: the oldest entry, for a thief that decides whether to steal it.
  Entry oldest() const noexcept {
    const std::int64_t top = top_.load(std::memory_order_acquire);
    if (top >= bottom_.load(std::memory_order_acquire)) return {};
    const Ring* ring = ring_.load(std::memory_order_acquire);
    return Entry::from_bits(ring->at(top).load(std::memory_order_relaxed));
  }
  // Any thread, a hint.
  std::int64_t size() const noexcept {
    const std::int64_t size = bottom_.load(std::memory_order_acquire) - top_.load(std::memory_order_acquire);
    return size > 0 ? size : 0;
  }
  // While the owner and all thieves stand: each entry, the oldest first.
  template <typename Use>
  void for_each(Use use) const noexcept {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    for (std::int64_t at = top_.load(std::memory_order_relaxed); at < bottom; ++at) use(read(at).runnable());
  }
  // Any thread. The index of the oldest entry; changes with each entry that is taken at the top.
  std::int64_t top() const noexcept { return top_.load(std::memory_order_relaxed); }

 private:
  friend struct DebuggerLayout;  // rt/abi/inspect/debugger.cpp

  struct Ring {
    Ring* older;  // the smaller ring before this one; mapped until destroy(), since a slow thief may still read it
    std::size_t bytes;
    std::int64_t mask;
    Atomic<std::uintptr_t>* entries() const noexcept {
      return reinterpret_cast<Atomic<std::uintptr_t>*>(const_cast<Ring*>(this + 1));
    }
    Atomic<std::uintptr_t>& at(std::int64_t index) const noexcept { return entries()[index & mask]; }
  };

  static Ring* make_ring(std::int64_t capacity, Ring* older) noexcept;
  void use(const Ring& ring) noexcept;
  // The steps of pop. `bottom`: bottom_ - 1.
  template <Path kPath>
  [[gnu::always_inline]] Entry take_newest(std::int64_t bottom) noexcept {
    bottom_.store(bottom, std::memory_order_relaxed);
    owner_fence<kPath>();
    if (top_.load(std::memory_order_relaxed) > bottom) [[unlikely]]
      return pop_contested(bottom);
    const Entry entry = read(bottom);
    if (!entry) __builtin_unreachable();  // lets the compiler drop the caller's test of an entry found here
    return entry;
  }
  Entry pop_contested(std::int64_t bottom) noexcept;
  Steal steal_locked(Entry& out) noexcept;
  Entry read(std::int64_t index) const noexcept {
    return Entry::from_bits(slots_[index & mask_].load(std::memory_order_relaxed));
  }
  template <Path kPath>
  [[gnu::always_inline]] void owner_fence() const noexcept {
    if (kPath == Path::kGeneral && fences_) [[unlikely]]
      full_fence();
    compiler_barrier();
  }

  // The owner's cache line. Thieves write nothing here; they read bottom_, ring_ and fences_.
  alignas(arch::kCacheLine) Atomic<std::int64_t> bottom_{0};
  std::int64_t top_seen_ = 0;  // top_ when the owner last loaded it: the ring has at least the room that this implies
  Atomic<std::uintptr_t>* slots_ = nullptr;  // the entries of ring_, for the owner
  std::int64_t mask_ = -1;
  Atomic<Ring*> ring_{nullptr};
  bool fences_ = false;  // the machine has no heavy fence, so the owner fences
  // The thieves' cache line; the owner writes it only under the lock.
  alignas(arch::kCacheLine) Atomic<std::int64_t> top_{0};  // written under lock_
  RankedLock<LockRank::kDeque> lock_;
};

}  // namespace janus
