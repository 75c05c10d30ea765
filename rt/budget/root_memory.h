// SPDX-License-Identifier: Apache-2.0
// rt/budget/root_memory.h — the root account's memory: part of it is in chunks in the workers' caches, which are filled,
// cut and recalled here. Amounts move between the root and a cache only under moves_. So a thread that holds moves_ sees
// every amount before it reports that memory is short. docs/decisions/0061
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/base/atomic.h"
#include "rt/base/lock_rank.h"
#include "rt/budget/account.h"
#include "rt/budget/account_words.h"
#include "rt/budget/memory_cache.h"

namespace janus {

class RootMemory {
 public:
  void init(Account* root, AccountWords* words) noexcept {
    root_ = root;
    words_ = words;
  }
  void destroy() noexcept;  // forgets all caches

  // Any thread. take() and take_all() of any account; if the root's memory does not suffice, they recall the caches'
  // chunks first.
  [[gnu::noinline]] bool take(Account* account, Component component, std::uint64_t amount) noexcept;
  std::uint64_t take_all(Account* account, Component component) noexcept;
  // Of any account; for the root's memory with the caches' chunks.
  [[nodiscard]] std::uint64_t left(const Account* account, Component component) const noexcept;
  // For the layers that draw on the root directly, without a task (PoolCharge).
  [[nodiscard]] bool draw(std::uint64_t bytes) noexcept { return take(root_, Component::kMemory, bytes); }
  void credit(std::uint64_t bytes) noexcept { words_->put(root_, Component::kMemory, bytes); }

  // Owner of the cache only.
  bool draw_cached(MemoryCache& cache, std::uint64_t bytes) noexcept;
  void credit_cached(MemoryCache& cache, std::uint64_t bytes) noexcept;
  void cut(MemoryCache& cache) noexcept;  // when credit_at_hand() asks for it
  void register_cache(MemoryCache& cache) noexcept;
  void unregister_cache(MemoryCache& cache) noexcept;

  // The least memory that a draw on the root has left in the root and the caches together; kUnlimited before the first.
  [[nodiscard]] std::uint64_t least_left() const noexcept { return least_left_.load(std::memory_order_relaxed); }

 private:
  bool draw_refilling(MemoryCache& cache, std::uint64_t bytes) noexcept;
  [[nodiscard]] std::uint64_t chunk_size() const noexcept;
  bool take_noting(std::uint64_t bytes) noexcept;

  // Under moves_.
  bool take_recalling(std::uint64_t bytes) noexcept;
  [[nodiscard]] std::uint64_t most_reachable() const noexcept;
  void fill(MemoryCache& cache) noexcept;
  void give_back(MemoryCache& cache) noexcept;
  void recall_chunks() noexcept;

  std::atomic<std::uint64_t> least_left_{kUnlimited};  // statistics only; orders nothing
  Account* root_;
  AccountWords* words_;
  Atomic<MemoryCache*> caches_;  // every cache that was ever registered
  Atomic<std::uint32_t> registered_;
  RankedLock<LockRank::kMoves> moves_;  // held while chunks move between the root and a cache
  std::uint32_t fills_;                 // calls of fill(); under moves_
  std::uint32_t failed_recalls_;        // recent recalls that did not bring in enough; under moves_
};

}  // namespace janus
