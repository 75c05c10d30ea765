// SPDX-License-Identifier: Apache-2.0
// rt/sched/yield_queue.cpp — the slow half of the yield queue: stealing, skipping what was stolen, growing.
#include "rt/sched/yield_queue.h"

namespace janus {

namespace {

std::size_t ring_bytes(std::int64_t capacity) noexcept {
  return (static_cast<std::size_t>(capacity) * sizeof(Atomic<Runnable*>) + 4095) & ~std::size_t{4095};
}

}  // namespace

bool YieldQueue::init(unsigned log2_capacity) noexcept {
  const std::int64_t capacity = std::int64_t{1} << log2_capacity;
  std::byte* const pages = platform::map(ring_bytes(capacity));
  if (pages == nullptr) return false;
  slots_ = reinterpret_cast<Atomic<Runnable*>*>(pages);
  mask_ = capacity - 1;
  head_.store(0, std::memory_order_relaxed);
  tail_.store(0, std::memory_order_relaxed);
  limit_.store(kNoLimit, std::memory_order_relaxed);
  fences_ = !platform::has_heavy_fence();
  return true;
}

void YieldQueue::destroy() noexcept {
  if (slots_ != nullptr) platform::unmap(reinterpret_cast<std::byte*>(slots_), ring_bytes(mask_ + 1));
  slots_ = nullptr;
  mask_ = -1;
}

// The owner has claimed `head` and found a limit at or before it.
[[gnu::noinline]] Runnable* YieldQueue::take_at_limit(std::int64_t head) noexcept {
  LockGuard guard(lock_);
  // The thief may have seen the claim and restored the limit. If not, the claimed slot is the first of the gap.
  if (head < limit_.load(std::memory_order_relaxed)) return at(head);
  const std::int64_t next = gap_end_.load(std::memory_order_relaxed);
  limit_.store(kNoLimit, std::memory_order_relaxed);
  const bool is_empty = next == tail_.load(std::memory_order_relaxed);
  head_.store(is_empty ? next : next + 1, std::memory_order_relaxed);
  return is_empty ? nullptr : at(next);
}

[[gnu::noinline]] bool YieldQueue::grow(std::int64_t tail) noexcept {
  const std::int64_t capacity = 2 * (mask_ + 1);
  std::byte* const pages = platform::map(ring_bytes(capacity));
  if (pages == nullptr) return false;
  auto* const larger = reinterpret_cast<Atomic<Runnable*>*>(pages);
  LockGuard guard(lock_);
  for (std::int64_t i = head_.load(std::memory_order_relaxed); i < tail; ++i)
    larger[i & (capacity - 1)].store(at(i), std::memory_order_relaxed);
  platform::unmap(reinterpret_cast<std::byte*>(slots_), ring_bytes(mask_ + 1));
  slots_ = larger;
  mask_ = capacity - 1;
  return true;
}

std::size_t YieldQueue::steal(Runnable** out, std::size_t most) noexcept {
  if (size() == 0 || !lock_.try_lock()) return 0;  // a cheap check before the expensive fence
  const std::size_t count = steal_locked(out, most);
  lock_.unlock();
  return count;
}

std::size_t YieldQueue::steal_locked(Runnable** out, std::size_t most) noexcept {
  const auto half = [most](std::int64_t ready) {
    const std::int64_t count = (ready + 1) / 2;
    return count < static_cast<std::int64_t>(most) ? count : static_cast<std::int64_t>(most);
  };
  const std::int64_t tail = tail_.load(std::memory_order_acquire);  // pairs with push(): the slots, and what they name
  const std::int64_t head = head_.load(std::memory_order_relaxed);
  const std::int64_t limit = limit_.load(std::memory_order_relaxed);
  if (limit == kNoLimit) {
    const std::int64_t count = half(tail - head);
    if (count <= 0) return 0;
    const std::int64_t from = tail - count;
    gap_end_.store(tail, std::memory_order_relaxed);
    if (!set_limit(from)) {
      limit_.store(kNoLimit, std::memory_order_relaxed);
      return 0;
    }
    return copy(out, from, count);
  }
  // The owner does not pass the gap without the lock, which we hold, so what is behind it can be taken without a fence.
  const std::int64_t gap_end = gap_end_.load(std::memory_order_relaxed);
  if (tail > gap_end) {
    const std::int64_t count = half(tail - gap_end);
    gap_end_.store(gap_end + count, std::memory_order_relaxed);
    return copy(out, gap_end, count);
  }
  const std::int64_t count = half(limit - head);
  if (count <= 0) return 0;
  if (!set_limit(limit - count)) {
    limit_.store(limit, std::memory_order_relaxed);
    return 0;
  }
  return copy(out, limit - count, count);
}

// Steps 1 to 3 of a steal. False: the owner has taken beyond `limit`; the caller restores the limit.
bool YieldQueue::set_limit(std::int64_t limit) noexcept {
  limit_.store(limit, std::memory_order_relaxed);
  if (fences_)
    full_fence();
  else
    platform::heavy_fence();
  return head_.load(std::memory_order_relaxed) <= limit;
}

std::size_t YieldQueue::copy(Runnable** out, std::int64_t from, std::int64_t count) const noexcept {
  for (std::int64_t i = 0; i < count; ++i) out[i] = at(from + i);
  return static_cast<std::size_t>(count);
}

}  // namespace janus
