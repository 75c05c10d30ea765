// SPDX-License-Identifier: Apache-2.0
// rt/mem/cache_list.h — a list of the workers' caches that hold something of one shared pool, so that the pool can
// count it. A lock of the pool guards the list. A cache has its links as `link_`; all zero bytes mean that it is in no
// list.
#pragma once

namespace janus {

template <typename Pool, typename Cache>
class CacheList {
 public:
  struct Link {
    Pool* pool;  // nullptr: in no list
    Cache* next;
    Cache* previous;
  };

  void add(Cache& cache, Pool& pool) noexcept {
    cache.link_ = {&pool, first_, nullptr};
    if (first_ != nullptr) first_->link_.previous = &cache;
    first_ = &cache;
  }

  void remove(Cache& cache) noexcept {
    const Link link = cache.link_;
    (link.previous != nullptr ? link.previous->link_.next : first_) = link.next;
    if (link.next != nullptr) link.next->link_.previous = link.previous;
    cache.link_.pool = nullptr;
  }

  [[nodiscard]] Cache* first() const noexcept { return first_; }
  void forget() noexcept { first_ = nullptr; }

 private:
  Cache* first_ = nullptr;
};

}  // namespace janus
