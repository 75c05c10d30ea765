// SPDX-License-Identifier: Apache-2.0
// page_tables.cpp — builds page tables at boot, and walks them. area.cpp changes the area of mappings.
#include "kernel-free/memory/page_tables.h"

#include <atomic>

#include <arch/cpu.h>

#include "kernel-free/cpu/assert.h"
#include "kernel-free/cpu/instructions.h"

namespace janus::bare {
namespace {

Frame g_top = 0;

Entry* table_at(Entry entry) {
  return at_physical<Entry>(entry & kAddressBits);
}

bool can_map_at(unsigned level) {
  if (level <= 2) return true;
  return level == 3 && (arch::cpuid(0x80000001).edx >> 26 & 1) != 0;  // pages of 1 GiB
}

// The level of the largest page that both addresses are aligned to and that the range fills.
unsigned level_for(std::uint64_t address, Range physical) {
  for (unsigned level = 3; level > 1; --level) {
    const std::uint64_t mask = span_of(level) - 1;
    if (((address | physical.begin) & mask) == 0 && physical.end - physical.begin > mask && can_map_at(level))
      return level;
  }
  return 1;
}

// The table below an entry: the present one, or a new one whose entries have the entry's meaning.
Entry* table_below(Entry& entry) {
  std::atomic_ref<Entry> shared(entry);
  Entry seen = shared.load(std::memory_order_acquire);  // pairs with the exchange below
  if ((seen & kPresent) != 0) return table_at(seen);
  const Frame frame = take_frame();
  if (frame == 0) return nullptr;
  if (is(seen, Absence::kReserved)) {
    Entry* const table = table_at(frame);
    for (unsigned n = 0; n < 512; ++n) table[n] = absent(Absence::kReserved);
  }
  if (shared.compare_exchange_strong(seen, frame | kPresent | kWritable | kUsed, std::memory_order_acq_rel))
    return table_at(frame);
  give_frame(frame);  // another CPU was faster
  return table_at(seen);
}

}  // namespace

bool make_tables() noexcept {
  BARE_ASSERT(g_top == 0);
  g_top = take_frame();
  return g_top != 0;
}

Frame top_table() noexcept {
  return g_top;
}

void use_tables_here() noexcept {
  write_cr3(g_top);
}

Entry* entry_of(std::uint64_t address, unsigned level) noexcept {
  BARE_ASSERT(g_top != 0 && level >= 1 && level <= 4);
  Entry* table = table_at(g_top);
  for (unsigned at = 4; at > level; --at) {
    table = table_below(table[index_of(address, at)]);
    if (table == nullptr) return nullptr;
  }
  return &table[index_of(address, level)];
}

bool map_physical(std::uint64_t address, Range physical, Entry bits) noexcept {
  while (physical.begin < physical.end) {
    const unsigned level = level_for(address, physical);
    Entry* const entry = entry_of(address, level);
    if (entry == nullptr) return false;
    BARE_ASSERT((*entry & kPresent) == 0 && (address | physical.begin) % span_of(level) == 0);
    *entry = physical.begin | bits | (level > 1 ? Entry{kLarge} : 0);
    address += span_of(level);
    physical.begin += span_of(level);
  }
  return true;
}

void unmap_physical(std::uint64_t page) noexcept {
  if (Entry* const entry = entry_of(page, 1)) *entry = absent(Absence::kNothing);
  forget_page(page);
}

Found look_up(std::uint64_t address) noexcept {
  const Entry* table = table_at(g_top);
  for (unsigned level = 4;; --level) {
    const Entry entry = table[index_of(address, level)];
    if (!is_table(entry, level)) return {entry, level};
    table = table_at(entry);
  }
}

}  // namespace janus::bare
