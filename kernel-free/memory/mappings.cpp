// SPDX-License-Identifier: Apache-2.0
// mappings.cpp — rt/platform.h's pages: reserved when mapped, filled at the first touch; guards are absent pages.
#include "kernel-free/console/dump.h"
#include "kernel-free/memory/addresses.h"
#include "kernel-free/smp/per_cpu.h"
#include "rt/platform.h"

namespace janus::bare {
namespace {

Range range_of(const std::byte* pages, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uint64_t>(pages);
  return {begin, begin + bytes};
}

struct Change {
  bool is_complete;  // false: no memory for a table
  Range present;     // from the first page that is present to the last
};

// Pages of the range that are absent for reason `before` become absent for reason `after`.
Change change(Range range, Absence before, Absence after) {
  Range present{range.end, range.begin};
  for (std::uint64_t at = range.begin; at < range.end;) {
    SharedAccess shared;  // for one table at a time
    Entry* entry = entry_of(at, 1);
    if (entry == nullptr) return {false, present};
    do {
      Entry expected = absent(before);
      std::atomic_ref<Entry>(*entry++).compare_exchange_strong(expected, absent(after), std::memory_order_relaxed);
      if ((expected & kPresent) != 0) present = {at < present.begin ? at : present.begin, at + kPage};
      at += kPage;
    } while (at < range.end && index_of(at, 1) != 0);
  }
  return {true, present};
}

bool make_guard(Range range) {
  const Change made = change(range, Absence::kReserved, Absence::kGuard);
  if (made.is_complete && !made.present.is_empty()) take_away(made.present, Absence::kGuard);
  return made.is_complete;
}

}  // namespace
}  // namespace janus::bare

namespace janus::platform {

using namespace janus::bare;

std::byte* map(std::size_t bytes) noexcept {
  const unsigned power = block_for(bytes);
  SharedAccess shared;
  const std::uint64_t block = take_block(power);
  if (block == 0) return nullptr;
  if (!reserve({block, block + bytes})) {
    give_block(block, power);
    return nullptr;
  }
  return reinterpret_cast<std::byte*>(block);
}

void unmap(std::byte* pages, std::size_t bytes) noexcept {
  const unsigned power = block_for(bytes);
  const Range block = range_of(pages, std::size_t{1} << power);
  if ((block.begin & (block.end - block.begin - 1)) != 0) die("pages were given back that map() did not give", nullptr);
  take_away(block, Absence::kNothing);
  SharedAccess shared;
  give_block(block.begin, power);
}

void discard(std::byte* pages, std::size_t bytes) noexcept {
  take_away(range_of(pages, bytes), Absence::kReserved);
}

void populate(std::byte* first, std::size_t stride, std::uint64_t which) noexcept {
  for (; which != 0; which &= which - 1) {
    std::byte* const page = first + static_cast<std::size_t>(__builtin_ctzll(which)) * stride;
    if (fill(reinterpret_cast<std::uint64_t>(page), LastFrames::kLeave) == Filled::kNoMemory) return;
  }
}

Guard guard(std::byte* first, std::size_t stride, std::size_t count, std::size_t guard_bytes,
            std::size_t& guarded) noexcept {
  guarded = 0;
  while (guarded < count && make_guard(range_of(first + guarded * stride, guard_bytes))) ++guarded;
  return guarded > 0 ? Guard::kInstalled : Guard::kNone;
}

bool set_guards(std::byte* first, std::size_t stride, std::size_t count, std::size_t bytes) noexcept {
  for (std::size_t n = 0; n < count; ++n)
    if (!make_guard(range_of(first + n * stride, bytes))) return false;
  return true;
}

// No CPU has a translation of an absent page, so none has to be forgotten.
bool clear_guard(std::byte* pages, std::size_t bytes) noexcept {
  IrqOff<kTablesStack> irq_off;
  return change(range_of(pages, bytes), Absence::kGuard, Absence::kReserved).is_complete;
}

std::uint64_t memory_limit() noexcept {
  return frames_in_all() * kPage;
}

}  // namespace janus::platform
