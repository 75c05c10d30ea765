// SPDX-License-Identifier: Apache-2.0
// rt/budget/account_table.cpp — where account records come from and go: segments that never move, and a free list.
#include <bit>

#include "rt/base/assert.h"
#include "rt/budget/account.h"
#include "rt/budget/pool_charge.h"
#include "rt/platform.h"

namespace janus {
namespace {

// The free list's head: an index below a count of all pushes and pops, so that a record that left and came back between
// a load and its exchange is noticed.
constexpr std::uint32_t index_of_head(std::uint64_t head) noexcept {
  return static_cast<std::uint32_t>(head);
}
constexpr std::uint64_t next_head(std::uint64_t head, std::uint32_t index) noexcept {
  return (((head >> 32) + 1) << 32) | index;
}

}  // namespace

// Index i stands at place i + kFirst, whose highest bit names the segment.
struct Accounts::Place {
  explicit Place(std::uint32_t index) noexcept {
    const std::uint64_t place = std::uint64_t{index} + (std::uint64_t{1} << kFirstSegmentBits);
    const unsigned top = static_cast<unsigned>(std::bit_width(place)) - 1;
    segment = top - kFirstSegmentBits;
    offset = place - (std::uint64_t{1} << top);
  }
  unsigned segment;
  std::uint64_t offset;
};

std::size_t Accounts::segment_bytes(unsigned number) noexcept {
  return (sizeof(Account) << kFirstSegmentBits) << number;
}

Account* Accounts::at(std::uint32_t index) const noexcept {
  const Place place(index);
  // Acquire: pairs with segment(), so that the records are seen as they were made.
  return segments_[place.segment].load(std::memory_order_acquire) + place.offset;
}

// The segment, mapped if need be; nullptr if the machine refuses.
Account* Accounts::segment(unsigned number) noexcept {
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

void Accounts::unmap_segment(unsigned number) noexcept {
  Account* const pages = segments_[number].exchange(nullptr, std::memory_order_relaxed);
  if (pages != nullptr) platform::unmap(reinterpret_cast<std::byte*>(pages), segment_bytes(number));
}

// A record with one reference and nothing in it; nullptr: no memory.
Account* Accounts::take_record(bool has_paid) noexcept {
  Account* account = pop_free();
  if (account == nullptr && pay_for_fresh_record(has_paid)) account = fresh_record();
  if (account == nullptr) return nullptr;
  JANUS_ASSERT(account->references_.load(std::memory_order_relaxed) == 0);
  JANUS_ASSERT(account->held_.load(std::memory_order_relaxed) == 0);
  account->owed_.store(0, std::memory_order_relaxed);
  account->on_loan_.store(0, std::memory_order_relaxed);
  for (Atomic<std::uint64_t>& recharged : account->recharged_) recharged.store(0, std::memory_order_relaxed);
  account->queue_.waits.reset();
  account->references_.store(1, std::memory_order_relaxed);
  account->is_closed_.store(false, std::memory_order_relaxed);
  live_.fetch_add(1, std::memory_order_relaxed);
  return account;
}

// Below the root `payer` pays until the record is free.
Account* Accounts::take_paid_record(Account* payer) noexcept {
  const bool pays = payer->parent_ != nullptr;
  if (pays && !draw_memory(nullptr, payer, record_bytes_)) return nullptr;
  if (pays && pools_ != nullptr) pools_->prepay(record_bytes_);
  Account* const account = take_record(pays);
  if (account == nullptr && pays) put(payer, Component::kMemory, end_charge_of_record(payer));
  return account;
}

void Accounts::free_paid_record(Account* account, Account* payer) noexcept {
  free_record(account);
  put(payer, Component::kMemory, end_charge_of_record(payer));
}

// The caller has a reference to `payer`, and puts what this gives where it belongs.
std::uint64_t Accounts::end_charge_of_record(Account* payer) noexcept {
  if (payer->parent_ == nullptr || record_bytes_ == 0) return 0;
  if (pools_ != nullptr) pools_->end_prepayment(record_bytes_);
  const std::uint64_t held = payer->held_.fetch_sub(record_bytes_, std::memory_order_acq_rel);
  JANUS_CHECK(held >= record_bytes_);
  if (held == record_bytes_) payer->references_.fetch_sub(1, std::memory_order_acq_rel);  // as in credit_memory()
  return record_bytes_;
}

// Who has paid finds that among what the pools may grow by, unless an old debt comes first.
bool Accounts::pay_for_fresh_record(bool has_paid) noexcept {
  return pools_ == nullptr || pools_->grow(record_bytes_) || (has_paid && pools_->overdraw(record_bytes_));
}

Account* Accounts::pop_free() noexcept {
  std::uint64_t head = free_.load(std::memory_order_acquire);  // pairs with free_record()
  while (index_of_head(head) != 0) {
    Account* const first = at(index_of_head(head));
    // It may be gone and its link be new by now; then the exchange fails.
    const std::uint32_t next = first->next_free_.load(std::memory_order_relaxed);
    if (free_.compare_exchange_weak(head, next_head(head, next), std::memory_order_acquire)) return first;
  }
  return nullptr;
}

Account* Accounts::fresh_record() noexcept {
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

void Accounts::free_record(Account* account) noexcept {
  live_.fetch_sub(1, std::memory_order_relaxed);
  account->references_.store(0, std::memory_order_relaxed);  // also of one that was never opened
  std::uint64_t head = free_.load(std::memory_order_relaxed);
  do {
    account->next_free_.store(index_of_head(head), std::memory_order_relaxed);
    // Release: whoever pops it sees our last writes to it.
  } while (!free_.compare_exchange_weak(head, next_head(head, account->index_), std::memory_order_release,
                                        std::memory_order_relaxed));
}

}  // namespace janus
