// SPDX-License-Identifier: Apache-2.0
// memory_map.cpp — see memory_map.h.
#include "kernel-free/memory/memory_map.h"

#include "kernel-free/cpu/assert.h"

namespace janus::bare {
namespace {

constexpr std::uint64_t kPageMask = 4095;

}  // namespace

void MemoryMap::insert(std::size_t at, Range range) noexcept {
  BARE_ASSERT(at <= count_);
  if (range.is_empty() || count_ == kMax) return;
  BARE_ASSERT(at == 0 || ranges_[at - 1].end <= range.begin);
  BARE_ASSERT(at == count_ || range.end <= ranges_[at].begin);
  for (std::size_t n = count_++; n > at; --n) ranges_[n] = ranges_[n - 1];
  ranges_[at] = range;
}

void MemoryMap::erase(std::size_t at) noexcept {
  BARE_ASSERT(at < count_);
  for (--count_; at < count_; ++at) ranges_[at] = ranges_[at + 1];
}

void MemoryMap::add(Range ram) noexcept {
  if (ram.begin > ~kPageMask) return;
  ram = {(ram.begin + kPageMask) & ~kPageMask, ram.end & ~kPageMask};
  if (ram.is_empty()) return;
  remove(ram);
  std::size_t at = 0;
  while (at < count_ && ranges_[at].begin < ram.begin) ++at;
  insert(at, ram);
}

void MemoryMap::remove(Range used) noexcept {
  if (used.is_empty()) return;
  const bool is_last = used.end > ~kPageMask;
  used = {used.begin & ~kPageMask, is_last ? ~kPageMask : (used.end + kPageMask) & ~kPageMask};
  for (std::size_t n = 0; n < count_; ++n) {
    const Range whole = ranges_[n];
    if (used.end <= whole.begin || used.begin >= whole.end) continue;
    const Range before{whole.begin, used.begin}, behind{used.end, whole.end};
    if (before.is_empty() && behind.is_empty()) {
      erase(n--);
    } else if (before.is_empty()) {
      ranges_[n] = behind;
    } else {
      ranges_[n] = before;
      insert(n + 1, behind);
    }
  }
}

std::uint64_t MemoryMap::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t n = 0; n < count_; ++n) sum += ranges_[n].end - ranges_[n].begin;
  return sum;
}

Range MemoryMap::longest() const noexcept {
  Range longest{0, 0};
  for (std::size_t n = 0; n < count_; ++n)
    if (ranges_[n].end - ranges_[n].begin > longest.end - longest.begin) longest = ranges_[n];
  return longest;
}

}  // namespace janus::bare
