// SPDX-License-Identifier: Apache-2.0
// rt/mem/slab.h — type-stable records of one size (tasks, nurseries, channels): memory that once held a record holds
// records until destroy(), so a stale handle may be dereferenced. Every record has an index; finding one from the other
// takes a few loads.
//
// A free record keeps its contents but for the first eight bytes; one that was never taken is all zero bytes.
//
// INVARIANT given-once: a record is given once for each time that it was taken. Only the runtime takes and gives
// records, so a user cannot break this; if assertions are on, a bit for each record says whether it is held.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <arch/cpu.h>
#include "rt/base/assert.h"
#include "rt/base/lock_rank.h"
#include "rt/mem/cache_list.h"
#include "rt/mem/pages.h"

namespace janus {

class PoolCharge;
class Slab;

// One worker's free records. Owner only; all zero bytes are a valid empty cache. Used with one slab until
// Slab::flush().
class SlabCache {
 private:
  friend class Slab;
  friend class CacheList<Slab, SlabCache>;
  struct Record {
    Record* next;
  };
  Record* hot_;    // last in, first out
  Record* spare_;  // nullptr, or one whole batch
  // How many records hot_ lacks to be a whole batch; 0 while the cache belongs to no slab. Other threads read it for
  // the statistics.
  std::atomic<std::uint32_t> room_;
  std::atomic<std::uint32_t> spares_;  // records in spare_: 0 or kBatch
  CacheList<Slab, SlabCache>::Link link_;
};

class Slab {
 public:
  static constexpr std::uint32_t kNoIndex = ~std::uint32_t{0};
  static constexpr std::size_t kMaxObjectBytes = 4096;
  static constexpr std::uint32_t kMaxChunks = 65536;  // 16 GiB of records

  // `object_bytes` is at least 8 and is rounded up to a multiple of 16. Records are aligned to the largest power of two
  // that divides this, at most 128. `most_chunks` chunks of 256 KiB limit how many there can be. False: an argument is
  // out of range, or the machine has no memory.
  [[nodiscard]] bool init(std::size_t object_bytes, std::uint32_t most_chunks = kMaxChunks) noexcept;
  void destroy() noexcept;  // unmaps everything; caches need not have been flushed

  // From now on `pool_charge` pays for records: once for each record, in batches, when records are first cut. Without
  // this call records are not charged. Call it before the first take().
  void charge_to(PoolCharge& pool_charge) noexcept { pool_charge_ = &pool_charge; }

  // `cache`: the calling worker's, or nullptr in a foreign thread, which takes a lock. nullptr: the machine has no
  // memory, or the payer cannot pay.
  [[nodiscard, gnu::always_inline]] inline void* take(SlabCache* cache) noexcept;
  // As take(), for a caller that has paid already (PoolCharge::overdraw).
  [[nodiscard]] void* alloc_prepaid(SlabCache* cache) noexcept;
  // hot(): the record that take_hot() would take, the one last given to this cache; nullptr: there is none, and
  // take_hot() must not be called.
  [[nodiscard, gnu::always_inline]] static inline void* hot(const SlabCache& cache) noexcept { return cache.hot_; }
  [[nodiscard, gnu::always_inline]] static inline void* take_hot(SlabCache& cache) noexcept;
  // As take_hot(); `hot`: what hot() has just returned.
  [[gnu::always_inline]] static inline void take_hot(SlabCache& cache, void* hot) noexcept;
  // Any worker may give any record; `cache` as for take().
  [[gnu::always_inline]] inline void give(SlabCache* cache, void* object) noexcept;
  // give(), if has_room(), which holds only for a cache that was used before.
  [[nodiscard, gnu::always_inline]] static inline bool has_room(const SlabCache& cache) noexcept {
    return !arch::cmp_relaxed(cache.room_, 0);
  }
  [[gnu::always_inline]] static inline void give_hot(SlabCache& cache, void* object) noexcept;
  void flush(SlabCache& cache) noexcept;

  // The record with this index, held or not; nullptr if there is none. Any thread, lock-free.
  [[nodiscard]] void* at(std::uint32_t index) const noexcept {
    const std::uint32_t chunk = index >> index_shift_, slot = index & ((1u << index_shift_) - 1);
    if (chunk >= chunk_count_.load(std::memory_order_acquire) || slot >= per_chunk_) [[unlikely]]  // pairs with grow()
      return nullptr;
    return chunks_[chunk] + kHeaderBytes + std::size_t{slot} * object_bytes_;
  }
  // The next index that has a record; kNoIndex: there is none. Any thread, lock-free.
  [[nodiscard]] std::uint32_t index_after(std::uint32_t index) const noexcept {
    const std::uint32_t chunk = index >> index_shift_, slot = index & ((1u << index_shift_) - 1);
    if (slot + 1 < per_chunk_) return index + 1;
    const bool is_last = chunk + 1 >= chunk_count_.load(std::memory_order_acquire);  // pairs with grow()
    return is_last ? kNoIndex : (chunk + 1) << index_shift_;
  }
  // Any thread. Precondition: `object` is a record of this slab.
  [[nodiscard]] std::uint32_t index_of(const void* object) const noexcept {
    const std::uintptr_t offset = address_of(object) % kChunkBytes;
    const Header* header = reinterpret_cast<const Header*>(address_of(object) - offset);
    const std::uint64_t slot = (offset - kHeaderBytes) * reciprocal_ >> 32;
    return header->number << index_shift_ | static_cast<std::uint32_t>(slot);
  }

  [[nodiscard]] std::size_t count() noexcept;  // records held; exact while no thread takes or gives, else approximate
  [[nodiscard]] std::size_t bytes_mapped() const noexcept { return mapped_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t mappings() const noexcept { return mappings_.load(std::memory_order_relaxed); }

 private:
  friend struct DebuggerLayout;  // rt/abi/inspect/debugger.cpp
  using Record = SlabCache::Record;
  static constexpr std::size_t kChunkBytes = std::size_t{256} << 10;
  static constexpr std::size_t kHeldAt = 128;  // offset in a chunk of the bits of given-once, with assertions only
  static constexpr std::size_t kHeaderBytes = kHeldAt + (kAssertions ? kChunkBytes / 16 / 8 : 0);
  static constexpr unsigned kMaxGroups = 1024;
  static constexpr std::size_t kMaxGroupChunks = 256;  // 64 MiB
  static constexpr std::uint32_t kBatch = 32;

  struct Header {
    std::uint32_t number;
  };
  struct Group {
    std::byte* pages;
    std::size_t bytes;
  };
  // The first word of the first record of a batch in the shared list: the index of the next record of the batch, and of
  // the next batch. Two indexes fit where two addresses would not. In all other free records the word is an address.
  struct BatchWord {
    std::uint32_t next;
    std::uint32_t next_batch;
  };

  void note_taken(const Record* record) const noexcept;
  void note_given(const Record* record) const noexcept;
  [[nodiscard]] std::atomic<std::uint64_t>& held_word(const Record* record, std::uint64_t& bit) const noexcept;

  [[nodiscard]] void* take_slow(SlabCache* cache) noexcept;
  void give_slow(SlabCache* cache, Record* record) noexcept;
  [[nodiscard]] bool refill(SlabCache& cache) noexcept;
  void set_aside(SlabCache& cache) noexcept;
  [[nodiscard]] void* take_foreign() noexcept;
  void give_foreign(Record* record) noexcept;

  [[nodiscard]] Record* pop_batch() noexcept;
  void push_batch(Record* head) noexcept;
  [[nodiscard]] Record* take_loose(std::uint32_t wanted, std::uint32_t& got) noexcept;
  void give_loose(Record* head) noexcept;
  [[nodiscard]] bool pay_for_batch() noexcept;
  [[nodiscard]] Record* cut() noexcept;
  [[nodiscard]] bool grow() noexcept;
  void add_chunk(std::byte* at) noexcept;
  [[nodiscard]] std::uint32_t index_or_none(const Record* record) const noexcept;

  void link(SlabCache& cache) noexcept;
  void unlink(SlabCache& cache) noexcept;
  void count_out(std::size_t delta) noexcept {  // under lock_, so no atomic read-modify-write
    out_.store(out_.load(std::memory_order_relaxed) + delta, std::memory_order_relaxed);
  }

  // Constant after init(), but for chunk_count_ and what the tables contain.
  std::byte** chunks_ = nullptr;  // entries below chunk_count_ do not change any more
  Group* groups_ = nullptr;
  std::uint32_t object_bytes_ = 0;
  std::uint32_t reciprocal_ = 0;
  std::uint32_t index_shift_ = 0;
  std::uint32_t per_chunk_ = 0;
  std::uint32_t most_chunks_ = 0;
  PoolCharge* pool_charge_ = nullptr;
  std::atomic<std::uint32_t> chunk_count_{0};

  alignas(arch::kPrefetchPair) RankedLock<LockRank::kSlab> lock_;
  std::uint32_t batches_ = kNoIndex;  // whole batches, the newest first
  Record* loose_ = nullptr;           // free records that are in no batch
  std::uint32_t cut_chunk_ = 0;       // the next record to cut: its chunk and slot
  std::uint32_t cut_slot_ = 0;
  std::uint32_t paid_ = 0;  // records that are paid for and not yet cut
  unsigned group_count_ = 0;
  CacheList<Slab, SlabCache> caches_;
  std::atomic<std::size_t> out_{0};  // records held, or in caches
  std::atomic<std::size_t> mapped_{0};
  std::atomic<std::size_t> mappings_{0};
};

inline std::atomic<std::uint64_t>& Slab::held_word(const Record* record, std::uint64_t& bit) const noexcept {
  const std::uintptr_t chunk = round_down(address_of(record), kChunkBytes);
  const std::uint32_t slot = index_of(record) & ((1u << index_shift_) - 1);
  bit = std::uint64_t{1} << slot % 64;
  return reinterpret_cast<std::atomic<std::uint64_t>*>(chunk + kHeldAt)[slot / 64];
}

inline void Slab::note_taken(const Record* record) const noexcept {
  if constexpr (kAssertions) {
    std::uint64_t bit = 0;
    std::atomic<std::uint64_t>& word = held_word(record, bit);
    const bool was_held = (word.fetch_or(bit, std::memory_order_relaxed) & bit) != 0;
    JANUS_ASSERT(!was_held);
  }
}

inline void Slab::note_given(const Record* record) const noexcept {
  if constexpr (kAssertions) {
    std::uint64_t bit = 0;
    std::atomic<std::uint64_t>& word = held_word(record, bit);
    const bool was_held = (word.fetch_and(~bit, std::memory_order_relaxed) & bit) != 0;
    JANUS_ASSERT(was_held);
  }
}

inline void Slab::take_hot(SlabCache& cache, void* hot) noexcept {
  JANUS_ASSERT(hot == cache.hot_);
  Record* const record = static_cast<Record*>(hot);
  if (record == nullptr) __builtin_unreachable();
  cache.link_.pool->note_taken(record);
  cache.hot_ = record->next;
  arch::add_as_owner(cache.room_, 1u);
}

inline void* Slab::take_hot(SlabCache& cache) noexcept {
  void* const record = cache.hot_;
  take_hot(cache, record);
  return record;
}

inline void* Slab::take(SlabCache* cache) noexcept {
  if (cache != nullptr) [[likely]] {
    if (cache->hot_ != nullptr) [[likely]]
      return take_hot(*cache);
  }
  return take_slow(cache);
}

inline void Slab::give_hot(SlabCache& cache, void* object) noexcept {
  JANUS_ASSERT(cache.link_.pool->at(cache.link_.pool->index_of(object)) == object);
  Record* const record = static_cast<Record*>(object);
  cache.link_.pool->note_given(record);
  record->next = cache.hot_;
  cache.hot_ = record;
  arch::add_as_owner(cache.room_, ~0u);
}

inline void Slab::give(SlabCache* cache, void* object) noexcept {
  JANUS_ASSERT(at(index_of(object)) == object);
  Record* record = static_cast<Record*>(object);
  if (cache != nullptr && has_room(*cache)) [[likely]]
    return give_hot(*cache, object);
  note_given(record);
  give_slow(cache, record);
}

}  // namespace janus
