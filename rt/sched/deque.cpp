// SPDX-License-Identifier: Apache-2.0
// rt/sched/deque.cpp — the slow half of the deque: stealing and growing.
#include "rt/sched/deque.h"

namespace janus {

bool Deque::init(unsigned log2_capacity) noexcept {
  Ring* ring = make_ring(std::int64_t{1} << log2_capacity, nullptr);
  if (ring == nullptr) return false;
  ring_.store(ring, std::memory_order_relaxed);
  use(*ring);
  bottom_.store(0, std::memory_order_relaxed);
  top_.store(0, std::memory_order_relaxed);
  top_seen_ = 0;
  fences_ = !platform::has_heavy_fence();
  return true;
}

void Deque::destroy() noexcept {
  Ring* ring = ring_.exchange(nullptr, std::memory_order_relaxed);
  while (ring != nullptr) {
    Ring* older = ring->older;
    platform::unmap(reinterpret_cast<std::byte*>(ring), ring->bytes);
    ring = older;
  }
}

Deque::Ring* Deque::make_ring(std::int64_t capacity, Ring* older) noexcept {
  const std::size_t bytes =
      (sizeof(Ring) + static_cast<std::size_t>(capacity) * sizeof(std::uintptr_t) + 4095) & ~std::size_t{4095};
  auto* ring = reinterpret_cast<Ring*>(platform::map(bytes));
  if (ring == nullptr) return nullptr;
  ring->older = older;
  ring->bytes = bytes;
  ring->mask = capacity - 1;
  return ring;
}

// By `top_seen_` the ring is full: loads top_ anew and, if the ring is still full, moves to one of twice the size.
[[gnu::noinline, gnu::cold]] bool Deque::make_room() noexcept {
  const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
  top_seen_ = top_.load(std::memory_order_acquire);
  if (bottom - top_seen_ < mask_) return true;
  Ring* ring = ring_.load(std::memory_order_relaxed);
  Ring* larger = make_ring(2 * (mask_ + 1), ring);
  if (larger == nullptr) return false;
  for (std::int64_t i = top_seen_ - 1; i < bottom; ++i)  // a thief may take back its claim of the first one
    larger->at(i).store(ring->at(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
  ring_.store(larger, std::memory_order_release);  // pairs with a thief's load of ring_
  use(*larger);
  return true;
}

void Deque::use(const Ring& ring) noexcept {
  slots_ = ring.entries();
  mask_ = ring.mask;
}

// The owner has claimed the entry at `bottom`, which a thief may have claimed, too. The lock decides.
[[gnu::noinline]] Entry Deque::pop_contested(std::int64_t bottom) noexcept {
  LockGuard guard(lock_);
  if (top_.load(std::memory_order_relaxed) <= bottom) return read(bottom);  // the thief took its claim back
  bottom_.store(bottom + 1, std::memory_order_relaxed);
  return {};
}

// Needs no fence: the lock keeps thieves out, and only the caller, the owner, pops.
Entry Deque::take_oldest() noexcept {
  if (size() == 0 || !lock_.try_lock()) return {};
  const std::int64_t top = top_.load(std::memory_order_relaxed);
  Entry entry;
  if (top < bottom_.load(std::memory_order_relaxed)) {
    entry = read(top);
    top_.store(top + 1, std::memory_order_release);
  }
  lock_.unlock();
  return entry;
}

Deque::Steal Deque::steal(Entry& out) noexcept {
  if (size() == 0) return Steal::kEmpty;  // a cheap check before the expensive fence
  if (!lock_.try_lock()) return Steal::kLost;
  const Steal outcome = steal_locked(out);
  lock_.unlock();
  return outcome;
}

Deque::Steal Deque::steal_locked(Entry& out) noexcept {
  const std::int64_t top = top_.load(std::memory_order_relaxed);
  if (top >= bottom_.load(std::memory_order_relaxed)) return Steal::kEmpty;
  top_.store(top + 1, std::memory_order_relaxed);
  if (fences_)
    full_fence();
  else
    platform::heavy_fence();
  if (top >= bottom_.load(std::memory_order_acquire)) {  // pairs with push(): the entry, and what it names
    top_.store(top, std::memory_order_relaxed);
    return Steal::kEmpty;
  }
  // The entry is the thief's: the owner cannot take it without the lock, and does not reuse its slot, whichever ring it
  // has moved to.
  out = Entry::from_bits(ring_.load(std::memory_order_acquire)->at(top).load(std::memory_order_relaxed));
  return Steal::kTaken;
}

[[gnu::noinline, gnu::cold]] Entry Deque::pop_apart() noexcept {
  return pop();
}

[[gnu::noinline, gnu::cold]] void Deque::put_back(Entry newest) noexcept {
  (void)push(newest);
}

}  // namespace janus
