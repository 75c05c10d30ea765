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

constexpr std::uint32_t kPatience = tunable(1000, 0);
constexpr std::uint64_t kNapNs = 20'000;

}  // namespace

// ---- The owner's side ---------------------------------------------------------------------------------------------

// False: the chunk has been recalled; the cache has been left again.
inline bool MemoryCache::enter() noexcept {
  if (is_fenced_by_others_) {
    busy_.store(1, std::memory_order_relaxed);
    compiler_barrier();  // partner: platform::heavy_fence() in recall_chunks()
  } else {
    busy_.exchange(1, std::memory_order_seq_cst);  // partner: the exchange in recall_chunks()
  }
  if (recalled_.load(std::memory_order_seq_cst) == 0) [[likely]]
    return true;
  leave();
  return false;
}

// Release: pairs with the acquire in await_leaving(); recall_chunks() then sees the chunk as we left it.
inline void MemoryCache::leave() noexcept {
  busy_.store(0, std::memory_order_release);
}

bool RootMemory::draw_cached(MemoryCache& cache, std::uint64_t bytes) noexcept {
  if (!cache.is_registered_) [[unlikely]]
    return draw(bytes);
  if (cache.enter()) [[likely]] {
    const std::uint64_t chunk = cache.chunk_.load(std::memory_order_relaxed);
    const bool suffices = chunk >= bytes;
    if (suffices) cache.chunk_.store(chunk - bytes, std::memory_order_relaxed);
    cache.leave();
    if (suffices) return true;
  }
  return draw_refilling(cache, bytes);
}

void RootMemory::credit_cached(MemoryCache& cache, std::uint64_t bytes) noexcept {
  if (bytes > cache.most_.load(std::memory_order_relaxed)) return credit(bytes);
  if (cache.enter()) [[likely]] {
    const std::uint64_t chunk = cache.chunk_.load(std::memory_order_relaxed) + bytes;
    const bool fits = chunk <= cache.most_.load(std::memory_order_relaxed);
    if (fits) cache.chunk_.store(chunk, std::memory_order_relaxed);
    cache.leave();
    if (fits) return;
  }
  credit_cutting(cache, bytes);
}

void RootMemory::credit_cutting(MemoryCache& cache, std::uint64_t bytes) noexcept {
  const LockGuard guard(moves_);
  fill(cache, cache.chunk_.load(std::memory_order_relaxed) + bytes);
}

bool RootMemory::draw_refilling(MemoryCache& cache, std::uint64_t bytes) noexcept {
  const LockGuard guard(moves_);
  const std::uint64_t chunk = cache.chunk_.load(std::memory_order_relaxed);
  if (chunk >= bytes) {  // we came here because of a recall, not because the chunk was short
    cache.chunk_.store(chunk - bytes, std::memory_order_relaxed);
    return true;
  }
  cache.chunk_.store(0, std::memory_order_relaxed);
  credit(chunk);
  const bool is_drawn = take_recalling(bytes);
  fill(cache, 0);
  return is_drawn;
}

// ---- Under the lock -----------------------------------------------------------------------------------------------

// Makes the chunk as large as chunk_size() says, by a move from or to the root. `chunk` is its present size.
void RootMemory::fill(MemoryCache& cache, std::uint64_t chunk) noexcept {
  if (++fills_ % kFillsToForgiveOne == 0 && failed_recalls_ != 0) --failed_recalls_;
  const std::uint64_t size = cache.is_registered_ ? chunk_size() : 0;
  cache.most_.store(kSlack * size, std::memory_order_relaxed);
  if (chunk < size && AccountWords::take(root_, Component::kMemory, size - chunk)) {
    chunk = size;
  } else if (chunk > size) {
    credit(chunk - size);
    chunk = size;
  }
  cache.chunk_.store(chunk, std::memory_order_relaxed);
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
bool RootMemory::take_recalling(std::uint64_t bytes) noexcept {
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
void RootMemory::recall_chunks() noexcept {
  MemoryCache* const first = caches_.load(std::memory_order_relaxed);
  for (MemoryCache* cache = first; cache != nullptr; cache = cache->next_)
    cache->recalled_.exchange(1, std::memory_order_seq_cst);
  platform::heavy_fence();
  std::uint64_t sum = 0;
  for (MemoryCache* cache = first; cache != nullptr; cache = cache->next_) {
    await_leaving(*cache);
    sum += cache->chunk_.exchange(0, std::memory_order_relaxed);
    cache->most_.store(0, std::memory_order_relaxed);
    // Release: pairs with the owner's load in enter(), after which it sees the chunk as we left it.
    cache->recalled_.store(0, std::memory_order_release);
  }
  credit(sum);
}

// Waits until the owner has left the cache. The owner needs a few instructions for that, so the wait is long only if
// its thread has lost its CPU there.
void RootMemory::await_leaving(MemoryCache& cache) noexcept {
  for (std::uint32_t tries = 0; cache.busy_.load(std::memory_order_acquire) != 0; ++tries) {
    if (tries < kPatience) {
      pause();
    } else {
      platform::wait(cache.busy_, 1, platform::now_ns() + kNapNs);  // a short sleep, since leave() wakes no thread
    }
  }
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
    sum += cache->chunk_.load(std::memory_order_relaxed);
  return sum;
}

void RootMemory::register_cache(MemoryCache& cache) noexcept {
  const LockGuard guard(moves_);
  if (cache.is_registered_) return;
  cache.is_registered_ = true;
  cache.is_fenced_by_others_ = platform::has_heavy_fence();
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
  registered_.fetch_sub(1, std::memory_order_relaxed);
  fill(cache, cache.chunk_.load(std::memory_order_relaxed));
}

}  // namespace janus
