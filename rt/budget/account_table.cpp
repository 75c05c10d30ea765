// SPDX-License-Identifier: Apache-2.0
#include "rt/budget/account_table.h"

#include <bit>

#include "rt/platform.h"

namespace janus {
namespace {

// The free list's head: an index in the low half, and in the high half a count of all pushes and pops, so that an
// exchange notices if the record was popped and pushed again since the load (ABA).
constexpr std::uint32_t index_of_head(std::uint64_t head) noexcept {
  return static_cast<std::uint32_t>(head);
}
constexpr std::uint64_t next_head(std::uint64_t head, std::uint32_t index) noexcept {
  return (((head >> 32) + 1) << 32) | index;
}

}  // namespace

// The place of an index in the table: the highest bit of index + 2^kFirstSegmentBits names the segment, the rest is the
// offset.
struct AccountTable::Place {
  [[gnu::always_inline]] explicit Place(std::uint32_t index) noexcept {
    const std::uint64_t place = std::uint64_t{index} + (std::uint64_t{1} << kFirstSegmentBits);
    const unsigned top = static_cast<unsigned>(std::bit_width(place)) - 1;
    segment = top - kFirstSegmentBits;
    offset = place - (std::uint64_t{1} << top);
  }
  unsigned segment;
  std::uint64_t offset;
};

std::size_t AccountTable::segment_bytes(unsigned number) noexcept {
  return (sizeof(Account) << kFirstSegmentBits) << number;
}

[[gnu::noinline]] Account* AccountTable::at(std::uint32_t index) const noexcept {
  const Place place(index);
  // Acquire: pairs with segment(), so that the records are seen initialised.
  return segments_[place.segment].load(std::memory_order_acquire) + place.offset;
}

// The segment, which is mapped if it is not yet; nullptr: the machine has no memory.
Account* AccountTable::segment(unsigned number) noexcept {
  Account* present = segments_[number].load(std::memory_order_acquire);
  if (present != nullptr) return present;
  std::byte* const pages = platform::map(segment_bytes(number));
  if (pages == nullptr) return nullptr;
  // Zeroed pages are valid records; all members are trivial or atomics of trivial types.
  Account* const made = reinterpret_cast<Account*>(pages);
  if (segments_[number].compare_exchange_strong(present, made, std::memory_order_acq_rel)) return made;
  platform::unmap(pages, segment_bytes(number));  // another thread was first
  return present;
}

void AccountTable::unmap_segment(unsigned number) noexcept {
  Account* const pages = segments_[number].exchange(nullptr, std::memory_order_relaxed);
  if (pages != nullptr) platform::unmap(reinterpret_cast<std::byte*>(pages), segment_bytes(number));
}

[[gnu::noinline, gnu::cold]] void AccountTable::destroy() noexcept {
  for (unsigned number = 0; number < kSegments; ++number) unmap_segment(number);
  free_.store(0, std::memory_order_relaxed);
  fresh_.store(0, std::memory_order_relaxed);
  live_.store(0, std::memory_order_relaxed);
}

Account* AccountTable::pop_free() noexcept {
  std::uint64_t head = free_.load(std::memory_order_acquire);  // pairs with free_record()
  while (index_of_head(head) != 0) {
    Account* const first = at(index_of_head(head));
    // Another thread may have popped the record meanwhile and changed its link; then the exchange fails.
    const std::uint32_t next = first->next_free_.load(std::memory_order_relaxed);
    if (free_.compare_exchange_weak(head, next_head(head, next), std::memory_order_acquire)) return first;
  }
  return nullptr;
}

Account* AccountTable::fresh_record() noexcept {
  std::uint32_t index = fresh_.load(std::memory_order_relaxed);
  for (;;) {
    if (index == ~std::uint32_t{0}) return nullptr;
    const Place place(index);
    Account* const records = segment(place.segment);
    if (records == nullptr) return nullptr;
    if (!fresh_.compare_exchange_weak(index, index + 1, std::memory_order_relaxed)) continue;
    records[place.offset].index_ = index;
    return records + place.offset;
  }
}

void AccountTable::free_record(Account* account) noexcept {
  live_.fetch_sub(1, std::memory_order_relaxed);
  account->references_.store(0, std::memory_order_relaxed);  // not yet 0 if open() failed
  std::uint64_t head = free_.load(std::memory_order_relaxed);
  do {
    account->next_free_.store(index_of_head(head), std::memory_order_relaxed);
    // Release: pairs with pop_free(), which then sees our last writes to the record.
  } while (!free_.compare_exchange_weak(head, next_head(head, account->index_), std::memory_order_release,
                                        std::memory_order_relaxed));
}

}  // namespace janus
