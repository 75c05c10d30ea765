// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/huge_table.h"

#include "rt/budget/accounts.h"
#include "rt/mem/pages.h"
#include "rt/platform.h"

namespace janus {

namespace {
constexpr std::size_t table_bytes(std::size_t places) noexcept {
  return round_up(places * sizeof(HugeTable::Block), kPageBytes);
}
constexpr std::size_t kFirstSize = 64;
}  // namespace

void* HugeTable::allocate(std::size_t bytes, std::size_t align, std::uint32_t tag) noexcept {
  std::size_t mapped = bytes;
  if (align > kPageBytes && __builtin_add_overflow(bytes, align - kPageBytes, &mapped)) return nullptr;
  LockGuard guard(lock_);
  if (!make_room()) return nullptr;
  std::byte* pages = platform::map(mapped);
  if (pages == nullptr) return nullptr;
  std::byte* start = align_up(pages, align > kPageBytes ? align : kPageBytes);
  places_[place_of(start)] = {start, pages, bytes, mapped, tag};
  count_++;
  in_use_ += bytes;
  mapped_ += mapped;
  return start;
}

Misuse HugeTable::free(const void* start, Holder holder, Block& freed) noexcept {
  {
    LockGuard guard(lock_);
    Misuse misuse{};
    Block* const block = held_by(holder, start, misuse);
    if (block == nullptr) return misuse;
    freed = *block;
    close_gap(static_cast<std::size_t>(block - places_));
    count_--;
    in_use_ -= freed.bytes;
    mapped_ -= freed.mapped;
  }
  platform::unmap(freed.pages, freed.mapped);
  return Misuse::kNone;
}

Misuse HugeTable::take_over(const void* start, Block& out) noexcept {
  LockGuard guard(lock_);
  Misuse misuse{};
  Block* const block = held_by(Holder::kUser, start, misuse);
  if (block == nullptr) return misuse;
  out = *block;
  block->tag |= kRuntimeTag;
  return Misuse::kNone;
}

[[gnu::noinline, gnu::cold]] unsigned HugeTable::take_over_all(std::uint32_t tag, void** out, unsigned most) noexcept {
  LockGuard guard(lock_);
  unsigned taken = 0;
  for (std::size_t n = 0; n < size_ && taken < most; n++) {
    Block& block = places_[n];
    if (block.start == nullptr || block.tag != tag) continue;
    block.tag |= kRuntimeTag;
    out[taken++] = block.start;
  }
  return taken;
}

[[gnu::noinline, gnu::cold]] void HugeTable::hand_up(Account* from, Account* to) noexcept {
  LockGuard guard(lock_);
  for (std::size_t n = 0; n < size_; n++) {
    Block& block = places_[n];
    if (block.start == nullptr || (block.tag & ~kRuntimeTag) != from->index()) continue;
    // Before the tag: who frees the block credits the account that the tag names.
    Accounts::move_held(from, to, block.bytes);
    block.tag = to->index() | (block.tag & kRuntimeTag);
  }
}

bool HugeTable::find(const void* start, Block& out) noexcept {
  LockGuard guard(lock_);
  if (size_ == 0) return false;
  out = places_[place_of(start)];
  return out.start != nullptr;
}

// --- The table, under the lock ---------------------------------------------------------------------------------------

std::size_t HugeTable::home_of(const void* start) const noexcept {
  const std::uint64_t mixed = (address_of(start) >> kPageShift) * 0x9e3779b97f4a7c15u;  // Fibonacci hashing
  return static_cast<std::size_t>(mixed >> 32) & (size_ - 1);
}

// The place of the block, or the empty place where it is to be inserted.
std::size_t HugeTable::place_of(const void* start) const noexcept {
  std::size_t place = home_of(start);
  while (places_[place].start != nullptr && places_[place].start != start) place = (place + 1) & (size_ - 1);
  return place;
}

// The entry of the block if `holder` holds it. Otherwise nullptr, and `misuse` says why.
HugeTable::Block* HugeTable::held_by(Holder holder, const void* start, Misuse& misuse) noexcept {
  Block* const block = size_ != 0 ? &places_[place_of(start)] : nullptr;
  if (block == nullptr || block->start == nullptr) {
    misuse = Misuse::kNoBlock;
    return nullptr;
  }
  misuse = holder_of(block->tag) == holder ? Misuse::kNone : Misuse::kRuntimes;
  return misuse == Misuse::kNone ? block : nullptr;
}

// Removes the entry at `gap`, and moves later entries of the same run into the gap, so that every search still finds
// them.
void HugeTable::close_gap(std::size_t gap) noexcept {
  for (std::size_t next = (gap + 1) & (size_ - 1); places_[next].start != nullptr; next = (next + 1) & (size_ - 1)) {
    const std::size_t home = home_of(places_[next].start);
    if (((next - home) & (size_ - 1)) < ((next - gap) & (size_ - 1))) continue;  // its home is behind the gap
    places_[gap] = places_[next];
    gap = next;
  }
  places_[gap].start = nullptr;
}

bool HugeTable::make_room() noexcept {
  if (count_ * 4 < size_ * 3) return true;
  const std::size_t old_size = size_;
  Block* old = places_;
  const std::size_t size = old_size == 0 ? kFirstSize : old_size * 2;
  std::byte* pages = platform::map(table_bytes(size));
  if (pages == nullptr) return false;
  places_ = reinterpret_cast<Block*>(pages);
  size_ = size;
  mapped_ += table_bytes(size) - table_bytes(old_size);
  for (std::size_t n = 0; n < old_size; n++)
    if (old[n].start != nullptr) places_[place_of(old[n].start)] = old[n];
  if (old != nullptr) platform::unmap(reinterpret_cast<std::byte*>(old), table_bytes(old_size));
  return true;
}

// --- Figures, and the end --------------------------------------------------------------------------------------------

std::size_t HugeTable::bytes_in_use() noexcept {
  LockGuard guard(lock_);
  return in_use_;
}
std::size_t HugeTable::bytes_mapped() noexcept {
  LockGuard guard(lock_);
  return mapped_;
}
std::size_t HugeTable::mappings() noexcept {
  LockGuard guard(lock_);
  return count_ + (size_ != 0);
}

void HugeTable::destroy() noexcept {
  for (std::size_t n = 0; n < size_; n++)
    if (places_[n].start != nullptr) platform::unmap(places_[n].pages, places_[n].mapped);
  if (size_ != 0) platform::unmap(reinterpret_cast<std::byte*>(places_), table_bytes(size_));
  places_ = nullptr;
  size_ = count_ = in_use_ = mapped_ = 0;
}

}  // namespace janus
