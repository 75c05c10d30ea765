// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/slab.h"

#include <bit>

#include "rt/budget/pool_charge.h"
#include "rt/platform.h"

namespace janus {

// --- Life ------------------------------------------------------------------------------------------------------------

[[gnu::noinline, gnu::cold]] bool Slab::init(std::size_t object_bytes, std::uint32_t most_chunks) noexcept {
  if (object_bytes < sizeof(Record) || object_bytes > kMaxObjectBytes || most_chunks > kMaxChunks) return false;
  most_chunks_ = most_chunks;
  object_bytes_ = static_cast<std::uint32_t>(round_up(object_bytes, 16));
  per_chunk_ = static_cast<std::uint32_t>((kChunkBytes - kHeaderBytes) / object_bytes_);
  index_shift_ = static_cast<std::uint32_t>(std::bit_width(per_chunk_ - 1));
  // Rounded up, so exact at the start of every record; at most 2^18 * 2^28 in index_of(), no overflow.
  reciprocal_ = static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + object_bytes_ - 1) / object_bytes_);
  constexpr std::size_t bytes = round_up(kMaxChunks * sizeof(std::byte*) + kMaxGroups * sizeof(Group), kPageBytes);
  std::byte* tables = platform::map(bytes);
  if (tables == nullptr) return false;
  chunks_ = reinterpret_cast<std::byte**>(tables);
  groups_ = reinterpret_cast<Group*>(tables + kMaxChunks * sizeof(std::byte*));
  mapped_.store(bytes, std::memory_order_relaxed);
  mappings_.store(1, std::memory_order_relaxed);
  return true;
}

[[gnu::noinline, gnu::cold]] void Slab::destroy() noexcept {
  if (chunks_ == nullptr) return;
  std::size_t tables = mapped_.load(std::memory_order_relaxed);
  for (unsigned g = 0; g < group_count_; g++) {
    platform::unmap(groups_[g].pages, groups_[g].bytes);
    tables -= groups_[g].bytes;
  }
  platform::unmap(reinterpret_cast<std::byte*>(chunks_), tables);
  chunks_ = nullptr;
  loose_ = nullptr;
  caches_.forget();
  batches_ = kNoIndex;
  cut_chunk_ = cut_slot_ = paid_ = 0;
  group_count_ = 0;
  chunk_count_.store(0, std::memory_order_relaxed);
  out_.store(0, std::memory_order_relaxed);
  mapped_.store(0, std::memory_order_relaxed);
  mappings_.store(0, std::memory_order_relaxed);
}

// --- The owner's side ------------------------------------------------------------------------------------------------

[[gnu::noinline]] void* Slab::take_slow(SlabCache* cache) noexcept {
  if (cache == nullptr) [[unlikely]]
    return take_foreign();
  if (cache->hot_ == nullptr && !refill(*cache)) [[unlikely]]
    return nullptr;
  return take_hot(*cache);
}

// Tries several times, because another thread may take the records that this call has paid for.
[[gnu::noinline, gnu::cold]] void* Slab::alloc_prepaid(SlabCache* cache) noexcept {
  void* record = take(cache);
  for (unsigned tries = 0; record == nullptr && pool_charge_ != nullptr && tries < kBatch; tries++) {
    {
      LockGuard guard(lock_);
      if (paid_ == 0 && !pool_charge_->overdraw(std::size_t{kBatch} * object_bytes_)) return nullptr;
      if (paid_ == 0) paid_ = kBatch;
    }
    record = take(cache);
  }
  return record;
}

[[gnu::noinline, gnu::cold]] void Slab::give_slow(SlabCache* cache, Record* record) noexcept {
  if (cache == nullptr) [[unlikely]]
    return give_foreign(record);
  if (cache->link_.pool == nullptr)
    link(*cache);
  else
    set_aside(*cache);
  record->next = nullptr;
  cache->hot_ = record;
  cache->room_.store(kBatch - 1, std::memory_order_relaxed);
}

// Called when a record is given while the hot list is a whole batch: that becomes the spare, and the old spare goes to
// the shared list. Not done one record earlier, so that a worker that takes and gives in turn never does it twice in a
// row.
void Slab::set_aside(SlabCache& cache) noexcept {
  Record* surplus = cache.spare_;
  cache.spare_ = cache.hot_;
  cache.hot_ = nullptr;
  cache.room_.store(kBatch, std::memory_order_relaxed);
  cache.spares_.store(kBatch, std::memory_order_relaxed);
  if (surplus == nullptr) return;
  LockGuard guard(lock_);
  push_batch(surplus);
  count_out(-std::size_t{kBatch});
}

bool Slab::refill(SlabCache& cache) noexcept {
  if (cache.link_.pool == nullptr) link(cache);
  std::uint32_t got = cache.spares_.load(std::memory_order_relaxed);
  Record* chain = cache.spare_;
  cache.spare_ = nullptr;
  cache.spares_.store(0, std::memory_order_relaxed);
  if (chain == nullptr) {
    LockGuard guard(lock_);
    got = kBatch;
    chain = pop_batch();
    if (chain == nullptr) chain = take_loose(kBatch, got);
    count_out(got);
  }
  cache.hot_ = chain;
  cache.room_.store(kBatch - got, std::memory_order_relaxed);
  return chain != nullptr;
}

[[gnu::noinline, gnu::cold]] void Slab::flush(SlabCache& cache) noexcept {
  if (cache.link_.pool == nullptr) return;
  {
    LockGuard guard(lock_);
    if (cache.spare_ != nullptr) push_batch(cache.spare_);
    give_loose(cache.hot_);
    count_out(-std::size_t{kBatch - cache.room_.load(std::memory_order_relaxed)} -
              cache.spares_.load(std::memory_order_relaxed));
  }
  cache.hot_ = cache.spare_ = nullptr;
  cache.room_.store(0, std::memory_order_relaxed);
  cache.spares_.store(0, std::memory_order_relaxed);
  unlink(cache);
}

[[gnu::noinline, gnu::cold]] void* Slab::take_foreign() noexcept {
  LockGuard guard(lock_);
  if (loose_ == nullptr) give_loose(pop_batch());
  std::uint32_t got = 0;
  Record* record = take_loose(1, got);
  if (record != nullptr) note_taken(record);
  count_out(got);
  return record;
}

[[gnu::noinline, gnu::cold]] void Slab::give_foreign(Record* record) noexcept {
  record->next = nullptr;
  LockGuard guard(lock_);
  give_loose(record);
  count_out(-std::size_t{1});
}

// --- The shared side, under lock_ ------------------------------------------------------------------------------------

std::uint32_t Slab::index_or_none(const Record* record) const noexcept {
  return record == nullptr ? kNoIndex : index_of(record);
}

void Slab::push_batch(Record* head) noexcept {
  const BatchWord word{index_or_none(head->next), batches_};
  batches_ = index_of(head);
  head->next = std::bit_cast<Record*>(word);
}

Slab::Record* Slab::pop_batch() noexcept {
  Record* head = static_cast<Record*>(at(batches_));
  if (head == nullptr) return nullptr;
  const BatchWord word = std::bit_cast<BatchWord>(head->next);
  batches_ = word.next_batch;
  head->next = static_cast<Record*>(at(word.next));
  return head;
}

void Slab::give_loose(Record* head) noexcept {
  while (head != nullptr) {
    Record* next = head->next;
    head->next = loose_;
    loose_ = head;
    head = next;
  }
}

[[gnu::noinline, gnu::cold]] Slab::Record* Slab::take_loose(std::uint32_t wanted, std::uint32_t& got) noexcept {
  Record* chain = nullptr;
  for (got = 0; got < wanted; got++) {
    Record* record = loose_;
    if (record != nullptr)
      loose_ = record->next;
    else if (record = cut(); record == nullptr)
      break;
    record->next = chain;
    chain = record;
  }
  return chain;
}

bool Slab::pay_for_batch() noexcept {
  if (pool_charge_ != nullptr && !pool_charge_->grow(std::size_t{kBatch} * object_bytes_)) return false;
  paid_ = kBatch;
  return true;
}

// Returns a record that was never taken; nullptr: the machine has no memory, or the payer cannot pay.
[[gnu::noinline, gnu::cold]] Slab::Record* Slab::cut() noexcept {
  if (cut_chunk_ == chunk_count_.load(std::memory_order_relaxed) && !grow()) return nullptr;
  if (paid_ == 0 && !pay_for_batch()) return nullptr;
  paid_--;
  Record* record = static_cast<Record*>(at(cut_chunk_ << index_shift_ | cut_slot_));
  if (++cut_slot_ == per_chunk_) {
    cut_slot_ = 0;
    cut_chunk_++;
  }
  return record;
}

// Maps as many chunks as there are already, or fewer if the machine refuses. Alignment costs one chunk's worth of
// address space.
[[gnu::noinline, gnu::cold]] bool Slab::grow() noexcept {
  const std::size_t have = chunk_count_.load(std::memory_order_relaxed);
  if (group_count_ == kMaxGroups) return false;
  std::size_t wanted = have == 0 ? 1 : have < kMaxGroupChunks ? have : kMaxGroupChunks;
  if (wanted > most_chunks_ - have) wanted = most_chunks_ - have;
  for (; wanted != 0; wanted /= 2) {
    const std::size_t bytes = (wanted + 1) * kChunkBytes;
    std::byte* pages = platform::map(bytes);
    if (pages == nullptr) continue;
    groups_[group_count_++] = {pages, bytes};
    mapped_.store(mapped_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
    mappings_.store(mappings_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    std::byte* chunk = align_up(pages, kChunkBytes);
    for (std::size_t n = 0; n < wanted; n++) add_chunk(chunk + n * kChunkBytes);
    return true;
  }
  return false;
}

void Slab::add_chunk(std::byte* at) noexcept {
  const std::uint32_t number = chunk_count_.load(std::memory_order_relaxed);
  reinterpret_cast<Header*>(at)->number = number;
  chunks_[number] = at;
  chunk_count_.store(number + 1, std::memory_order_release);  // pairs with at()
}

// --- Caches, figures -------------------------------------------------------------------------------------------------

[[gnu::noinline, gnu::cold]] void Slab::link(SlabCache& cache) noexcept {
  LockGuard guard(lock_);
  cache.room_.store(kBatch, std::memory_order_relaxed);
  caches_.add(cache, *this);
}

[[gnu::noinline, gnu::cold]] void Slab::unlink(SlabCache& cache) noexcept {
  LockGuard guard(lock_);
  caches_.remove(cache);
}

[[gnu::noinline, gnu::cold]] std::size_t Slab::count() noexcept {
  LockGuard guard(lock_);
  std::size_t held = out_.load(std::memory_order_relaxed);
  for (SlabCache* cache = caches_.first(); cache != nullptr; cache = cache->link_.next)
    held -= std::size_t{kBatch - cache->room_.load(std::memory_order_relaxed)} +
            cache->spares_.load(std::memory_order_relaxed);
  return held;
}

}  // namespace janus
