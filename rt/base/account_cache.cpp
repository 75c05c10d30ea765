// SPDX-License-Identifier: Apache-2.0
// rt/base/account_cache.cpp — chunks of the root account's memory: how they are filled, given back and called back.
#include "rt/base/account_cache.h"

#include "rt/base/account.h"

namespace janus {
namespace {

constexpr std::uint64_t kMostChunk = 256 * 1024;
// All chunks together are at most this share of what the root has left.
constexpr std::uint64_t kChunkShare = 8;

}  // namespace

void Accounts::register_cache(AccountCache& cache) noexcept {
  if (cache.is_registered_) return;
  cache.is_registered_ = true;
  registered_.fetch_add(1, std::memory_order_relaxed);
  if (cache.is_listed_) return;
  cache.is_listed_ = true;
  AccountCache* first = caches_.load(std::memory_order_relaxed);
  do {
    cache.next_ = first;
    // Release: pairs with the acquire of whoever walks the list.
  } while (!caches_.compare_exchange_weak(first, &cache, std::memory_order_release, std::memory_order_relaxed));
}

void Accounts::unregister_cache(AccountCache& cache) noexcept {
  if (!cache.is_registered_) return;
  cache.is_registered_ = false;
  registered_.fetch_sub(1, std::memory_order_relaxed);
  cache.aim_.store(0, std::memory_order_relaxed);
  put(root(), Component::kMemory, cache.chunk_.exchange(0, std::memory_order_relaxed));
}

bool Accounts::draw_cached(AccountCache& cache, std::uint64_t bytes) noexcept {
  std::uint64_t chunk = cache.chunk_.load(std::memory_order_relaxed);
  while (chunk >= bytes) {
    if (cache.chunk_.compare_exchange_weak(chunk, chunk - bytes, std::memory_order_relaxed)) return true;
  }
  return refill(cache, bytes) || take_called_back(root(), Component::kMemory, bytes);
}

void Accounts::credit_cached(AccountCache& cache, std::uint64_t bytes) noexcept {
  const std::uint64_t aim = cache.aim_.load(std::memory_order_relaxed);
  if (bytes > aim) return put(root(), Component::kMemory, bytes);
  std::uint64_t chunk = cache.chunk_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  while (chunk > 2 * aim) {
    if (!cache.chunk_.compare_exchange_weak(chunk, aim, std::memory_order_relaxed)) continue;
    return put(root(), Component::kMemory, chunk - aim);
  }
}

// Draws `bytes` for the caller and a new chunk for later. False: the root has not that much.
bool Accounts::refill(AccountCache& cache, std::uint64_t bytes) noexcept {
  const std::uint64_t size = cache.is_registered_ ? chunk_size() : 0;
  if (size == 0 || bytes > kUnlimited - size || !take(root(), Component::kMemory, bytes + size)) return false;
  cache.aim_.store(size, std::memory_order_relaxed);
  cache.chunk_.fetch_add(size, std::memory_order_relaxed);
  return true;
}

std::uint64_t Accounts::chunk_size() const noexcept {
  const std::uint64_t left = root()->left_[static_cast<unsigned>(Component::kMemory)].load(std::memory_order_relaxed);
  const std::uint64_t share = left / (kChunkShare * (registered_.load(std::memory_order_relaxed) + 1));
  return share < kMostChunk ? share : kMostChunk;
}

// Takes `amount`, after calling back what the caches hold if need be.
bool Accounts::take_called_back(Account* account, Component component, std::uint64_t amount) noexcept {
  if (take(account, component, amount)) return true;
  if (account->parent_ != nullptr || component != Component::kMemory) return false;
  while (call_back() != 0) {
    if (take(account, component, amount)) return true;
  }
  return take(account, component, amount);
}

// Empties every cache into the root; what that gave. Credits go straight to the root until the owner refills.
std::uint64_t Accounts::call_back() noexcept {
  std::uint64_t sum = 0;
  for (AccountCache* cache = caches_.load(std::memory_order_acquire); cache != nullptr; cache = cache->next_) {
    cache->aim_.store(0, std::memory_order_relaxed);
    sum += cache->chunk_.exchange(0, std::memory_order_relaxed);
  }
  put(root(), Component::kMemory, sum);
  return sum;
}

}  // namespace janus
