// SPDX-License-Identifier: Apache-2.0
#include "rt/budget/root_memory.h"

#include "rt/base/checked.h"
#include "rt/platform.h"

namespace janus {
namespace {

constexpr std::uint64_t kMaxChunk = 256 * 1024;
// All chunks together are at most about this share of the root's remaining memory when they are filled.
constexpr std::uint64_t kChunkShare = 8;
// A chunk that frees have made more than this many times as large is cut.
constexpr std::uint64_t kSlack = 2;

// After this many fills, failed_recalls_ decreases by one.
constexpr std::uint32_t kFillsToForgiveOne = 64;
constexpr std::uint32_t kMaxFailedRecalls = 63;

}  // namespace

// ---- The owner's side ---------------------------------------------------------------------------------------------

bool RootMemory::draw_cached(MemoryCache& cache, std::uint64_t bytes) noexcept {
  if (bytes <= kSlack * kMaxChunk && cache.draw_at_hand(bytes)) [[likely]]
    return true;
  return draw_refilling(cache, bytes);
}

void RootMemory::credit_cached(MemoryCache& cache, std::uint64_t bytes) noexcept {
  if (bytes > cache.most_.load(std::memory_order_relaxed)) return credit(bytes);
  if (!cache.credit_at_hand(bytes)) [[unlikely]]
    cut(cache);
}

[[gnu::cold]] void RootMemory::cut(MemoryCache& cache) noexcept {
  const LockGuard guard(moves_);
  fill(cache);
}

[[gnu::cold]] bool RootMemory::draw_refilling(MemoryCache& cache, std::uint64_t bytes) noexcept {
  if (!cache.is_registered_) return draw(bytes);
  const LockGuard guard(moves_);
  if (++fills_ % kFillsToForgiveOne == 0 && failed_recalls_ != 0) --failed_recalls_;
  give_back(cache);
  const bool is_drawn = take_recalling(bytes);
  fill(cache);
  return is_drawn;
}

// ---- Under the lock -----------------------------------------------------------------------------------------------

// Makes the chunk as large as chunk_size() says, by a move from or to the root. Called by the owner.
[[gnu::cold]] void RootMemory::fill(MemoryCache& cache) noexcept {
  const std::uint64_t size = cache.is_registered_ ? chunk_size() : 0;
  cache.most_.store(kSlack * size, std::memory_order_relaxed);
  const std::int64_t missing = static_cast<std::int64_t>(size) - cache.chunk();
  if (missing < 0)
    credit(static_cast<std::uint64_t>(-missing));
  else if (!AccountWords::take(root_, Component::kMemory, static_cast<std::uint64_t>(missing)))
    return;
  cache.limit_.store(cache.limit_.load(std::memory_order_relaxed) + missing, std::memory_order_relaxed);
}

// Moves the chunk to the root. Called by the owner.
void RootMemory::give_back(MemoryCache& cache) noexcept {
  const std::int64_t chunk = cache.chunk();
  cache.limit_.store(cache.used_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  credit(static_cast<std::uint64_t>(chunk));
}

// The size that a chunk should have. Each recent failed recall halves the size: otherwise a task that repeatedly
// requests slightly more memory than there is would cause a heavy fence, which stops all workers for a moment, at each
// request.
std::uint64_t RootMemory::chunk_size() const noexcept {
  const std::uint64_t left = root_->left_[static_cast<unsigned>(Component::kMemory)].load(std::memory_order_relaxed);
  const std::uint64_t share = left / (kChunkShare * (registered_.load(std::memory_order_relaxed) + 1));
  return (share < kMaxChunk ? share : kMaxChunk) >> failed_recalls_;
}

// Takes from the root's memory, and updates least_left_.
bool RootMemory::take_noting(std::uint64_t bytes) noexcept {
  if (!AccountWords::take(root_, Component::kMemory, bytes)) return false;
  const std::uint64_t left = this->left(root_, Component::kMemory);
  std::uint64_t least = least_left_.load(std::memory_order_relaxed);
  while (left < least && !least_left_.compare_exchange_weak(least, left, std::memory_order_relaxed)) {
  }
  return true;
}

// Precondition: moves_ is held. Returns false only if at some moment the root and the caches together had less than
// `bytes`.
[[gnu::cold]] bool RootMemory::take_recalling(std::uint64_t bytes) noexcept {
  if (take_noting(bytes)) return true;
  if (most_reachable() < bytes) return false;
  recall_chunks();
  if (take_noting(bytes)) return true;
  if (failed_recalls_ < kMaxFailedRecalls) ++failed_recalls_;
  return false;
}

// An upper bound of the memory that the root and the caches hold together: the root's amount, and the bound of each
// chunk, which does not change while moves_ is held. A sum of the chunks themselves would miss amounts that move during
// the addition.
std::uint64_t RootMemory::most_reachable() const noexcept {
  std::uint64_t sum = root_->left_[static_cast<unsigned>(Component::kMemory)].load(std::memory_order_relaxed);
  for (const MemoryCache* cache = caches_.load(std::memory_order_relaxed); cache != nullptr; cache = cache->next_)
    sum = saturating_add(sum, cache->most_.load(std::memory_order_relaxed));
  return sum;
}

// Moves the chunks of all caches to the root. Each cache keeps nothing until its owner fills it again.
[[gnu::cold]] void RootMemory::recall_chunks() noexcept {
  MemoryCache* const first = caches_.load(std::memory_order_relaxed);
  for (MemoryCache* cache = first; cache != nullptr; cache = cache->next_) {
    cache->recalled_ = cache->limit_.load(std::memory_order_relaxed);
    cache->limit_.store(MemoryCache::kRecalled, std::memory_order_relaxed);
  }
  platform::heavy_fence();  // partner: compiler_barrier() in MemoryCache
  std::uint64_t sum = 0;
  for (MemoryCache* cache = first; cache != nullptr; cache = cache->next_) {
    const std::int64_t limit = cache->recalled_, used = cache->used_.load(std::memory_order_relaxed);
    // More used than the limit is a draw that the owner will take back.
    const std::int64_t rest = used < limit ? limit - used : 0;
    sum += static_cast<std::uint64_t>(rest);
    cache->most_.store(0, std::memory_order_relaxed);
    cache->limit_.store(limit - rest, std::memory_order_release);  // pairs with the acquire in credit_at_hand()
  }
  credit(sum);
}

// ---- For any thread -----------------------------------------------------------------------------------------------

[[gnu::noinline, gnu::cold]] void RootMemory::destroy() noexcept {
  caches_.store(nullptr, std::memory_order_relaxed);
  registered_.store(0, std::memory_order_relaxed);
}

bool RootMemory::take(Account* account, Component component, std::uint64_t amount) noexcept {
  if (account->parent_ != nullptr || component != Component::kMemory)
    return AccountWords::take(account, component, amount);
  if (take_noting(amount)) return true;
  const LockGuard guard(moves_);
  return take_recalling(amount);
}

std::uint64_t RootMemory::take_all(Account* account, Component component) noexcept {
  if (account->parent_ != nullptr || component != Component::kMemory) return AccountWords::take_all(account, component);
  const LockGuard guard(moves_);
  recall_chunks();
  return AccountWords::take_all(account, component);
}

std::uint64_t RootMemory::left(const Account* account, Component component) const noexcept {
  const std::uint64_t left = account->left_[static_cast<unsigned>(component)].load(std::memory_order_relaxed);
  if (left == kUnlimited || account->parent_ != nullptr || component != Component::kMemory) return left;
  std::uint64_t sum = left;
  for (const MemoryCache* cache = caches_.load(std::memory_order_acquire); cache != nullptr; cache = cache->next_)
    if (const std::int64_t chunk = cache->chunk(); chunk > 0) sum += static_cast<std::uint64_t>(chunk);
  return sum;
}

void RootMemory::register_cache(MemoryCache& cache) noexcept {
  if (!platform::has_heavy_fence()) return;
  const LockGuard guard(moves_);
  if (cache.is_registered_) return;
  cache.is_registered_ = true;
  registered_.fetch_add(1, std::memory_order_relaxed);
  if (cache.is_listed_) return;
  cache.is_listed_ = true;
  cache.next_ = caches_.load(std::memory_order_relaxed);
  caches_.store(&cache, std::memory_order_release);  // pairs with the acquire in left(), which takes no lock
}

void RootMemory::unregister_cache(MemoryCache& cache) noexcept {
  const LockGuard guard(moves_);
  if (!cache.is_registered_) return;
  cache.is_registered_ = false;
  cache.most_.store(0, std::memory_order_relaxed);
  registered_.fetch_sub(1, std::memory_order_relaxed);
  give_back(cache);
}

}  // namespace janus
