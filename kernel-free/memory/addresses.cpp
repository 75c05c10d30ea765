// SPDX-License-Identifier: Apache-2.0
// addresses.cpp — see addresses.h.
#include "kernel-free/memory/addresses.h"

#include <atomic>

#include "kernel-free/cpu/assert.h"
#include "kernel-free/smp/lock.h"

namespace janus::bare {
namespace {

Lock g_lock;                              // protects the lists
std::uint64_t g_free[kLargestPower + 1];  // by power: the first free block, or 0
bool g_begun = false;

// The highest level at which an entry spans no more than a block.
unsigned level_of(unsigned power) {
  return power >= 39 ? 4 : power >= 30 ? 3 : power >= 21 ? 2 : 1;
}

// Lists a free block. False: no memory for the table that its entry is in; the addresses are then lost.
bool push(std::uint64_t block, unsigned power) {
  BARE_ASSERT(power >= kSmallestPower && power <= kLargestPower && block % (std::uint64_t{1} << power) == 0);
  BARE_ASSERT(block >= kAreaBegin && block < kAreaEnd);
  Entry* const entry = entry_of(block, level_of(power));
  if (entry == nullptr) return false;
  BARE_ASSERT(is(*entry, Absence::kNothing));
  std::atomic_ref<Entry>(*entry).store(absent(Absence::kFree, g_free[power]), std::memory_order_relaxed);
  g_free[power] = block;
  return true;
}

std::uint64_t pop(unsigned power) {
  const std::uint64_t block = g_free[power];
  if (block == 0) return 0;
  Entry* const entry = entry_of(block, level_of(power));  // its tables exist since push()
  BARE_ASSERT(is(*entry, Absence::kFree));
  g_free[power] = *entry & kAddressBits;
  std::atomic_ref<Entry>(*entry).store(absent(Absence::kNothing), std::memory_order_relaxed);
  return block;
}

}  // namespace

unsigned block_for(std::size_t bytes) noexcept {
  unsigned power = kSmallestPower;
  while (power <= kLargestPower && (std::uint64_t{1} << power) < bytes) ++power;
  return power;
}

std::uint64_t take_block(unsigned power) noexcept {
  if (power > kLargestPower) return 0;
  LockGuard guard(g_lock);
  if (!g_begun) g_begun = push(kAreaBegin, kLargestPower);
  unsigned from = power;
  while (from <= kLargestPower && g_free[from] == 0) ++from;
  if (from > kLargestPower) return 0;
  const std::uint64_t block = pop(from);
  while (from > power) {
    --from;
    if (!push(block + (std::uint64_t{1} << from), from)) return 0;
  }
  return block;
}

void give_block(std::uint64_t address, unsigned power) noexcept {
  LockGuard guard(g_lock);
  (void)push(address, power);
}

}  // namespace janus::bare
