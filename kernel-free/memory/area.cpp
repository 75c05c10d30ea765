// SPDX-License-Identifier: Apache-2.0
// area.cpp — the part of the page tables that changes while the program runs: reserving, filling at the first touch,
// removing. To remove a range, the code first marks all its entries (kLeaving), then makes all CPUs forget their
// translations, and only then frees the frames: so no CPU can still write to a frame that is in use again.
#include <atomic>
#include <initializer_list>

#include "kernel-free/memory/addresses.h"
#include "kernel-free/memory/page_tables.h"
#include "kernel-free/smp/per_cpu.h"

namespace janus::bare {
namespace {

Lock g_exclusive_lock;
std::atomic<bool> g_is_exclusive{false};

Entry* table_at(Entry entry) {
  return at_physical<Entry>(entry & kAddressBits);
}

Entry load(Entry& entry) {
  return std::atomic_ref<Entry>(entry).load(std::memory_order_acquire);  // pairs with the exchange in table_below()
}

// Calls what(entry, level) for the entries of the range. For a table that lies wholly in the range, that is the entry
// that refers to it, or with enters_whole the entries in it. An entry that is no table counts even if it lies
// only partly in the range.
template <typename What>
void each_entry(Entry* table, unsigned level, std::uint64_t table_begin, Range range, What& what) {
  const std::uint64_t span = span_of(level);
  std::uint64_t at = range.begin & ~(span - 1);
  for (; at < range.end; at += span) {
    Entry& entry = table[(at - table_begin) / span];
    const bool is_whole = at >= range.begin && range.end - at >= span;
    const Entry seen = load(entry);
    if (is_table(seen, level) && (!is_whole || what.enters_whole)) {
      const Range inside{at > range.begin ? at : range.begin, range.end - at < span ? range.end : at + span};
      each_entry(table_at(seen), level - 1, at, inside, what);
    } else {
      what(entry, level);
    }
  }
}

template <typename What>
void each_entry(Range range, What what) {
  each_entry(at_physical<Entry>(top_table()), 4, 0, range, what);
}

// --- Removing ---

// Marks pages as kLeaving, and whole tables if enters_whole is false.
struct Mark {
  bool enters_whole;
  bool* found;

  void operator()(Entry& entry, unsigned) {
    std::atomic_ref<Entry> shared(entry);
    const Entry seen = shared.load(std::memory_order_relaxed);
    if ((seen & kPresent) == 0) return;
    // Processors may set bits of the entry until all CPUs have forgotten it; these bits are ignored.
    shared.store(absent(Absence::kLeaving, seen & kAddressBits), std::memory_order_relaxed);
    *found = true;
  }
};

void give_table(Frame table, unsigned level) {
  Entry* const entries = at_physical<Entry>(table);
  for (unsigned n = 0; n < 512; ++n) {
    if ((entries[n] & kPresent) == 0) continue;
    if (level > 1)
      give_table(entries[n] & kAddressBits, level - 1);
    else
      give_frame(entries[n] & kAddressBits);
  }
  give_frame(table);
}

struct Give {
  bool enters_whole;
  Absence instead;

  void operator()(Entry& entry, unsigned level) {
    if (is(entry, Absence::kLeaving)) {
      BARE_ASSERT((entry & kAddressBits) != 0);
      if (level > 1)
        give_table(entry & kAddressBits, level - 1);
      else
        give_frame(entry & kAddressBits);
      entry = absent(instead);
    } else if (instead == Absence::kNothing) {
      entry = absent(instead);
    }
  }
};

// --- Reserving ---

struct Reserve {
  bool enters_whole;
  void operator()(Entry& entry, unsigned) {
    BARE_ASSERT(is(entry, Absence::kNothing));
    entry = absent(Absence::kReserved);
  }
};

// Makes the tables at both ends of the range, so that every entry lies in it whole or not at all. False: no memory for
// them.
bool split_ends(Range range) {
  for (const std::uint64_t end : {range.begin, range.end}) {
    unsigned level = 4;
    while (level > 1 && (end & (span_of(level) - 1)) != 0) --level;
    if (entry_of(end, level) == nullptr) return false;
  }
  return true;
}

}  // namespace

SharedAccess::SharedAccess() noexcept {
  std::atomic<bool>& mine = this_cpu().has_shared_access;
  BARE_ASSERT(!mine.load(std::memory_order_relaxed));
  for (;;) {
    mine.store(true, std::memory_order_seq_cst);  // before g_is_exclusive is read: pairs with ExclusiveAccess
    if (!g_is_exclusive.load(std::memory_order_seq_cst)) return;
    mine.store(false, std::memory_order_release);
    while (g_is_exclusive.load(std::memory_order_relaxed)) wait_a_moment();
  }
}

SharedAccess::~SharedAccess() {
  BARE_ASSERT(this_cpu().has_shared_access.load(std::memory_order_relaxed));
  this_cpu().has_shared_access.store(false, std::memory_order_release);  // pairs with ExclusiveAccess
}

ExclusiveAccess::ExclusiveAccess() noexcept {
  BARE_ASSERT(!this_cpu().has_shared_access.load(std::memory_order_relaxed));  // it would wait for itself
  g_exclusive_lock.lock();
  g_is_exclusive.store(true, std::memory_order_seq_cst);  // before has_shared_access is read: pairs with SharedAccess
  for (unsigned n = 0; n < g_cpu_count; ++n)
    while (g_cpus[n]->has_shared_access.load(std::memory_order_seq_cst)) wait_a_moment();
}

ExclusiveAccess::~ExclusiveAccess() {
  BARE_ASSERT(g_is_exclusive.load(std::memory_order_relaxed));
  g_is_exclusive.store(false, std::memory_order_release);
  g_exclusive_lock.unlock();
}

bool reserve(Range range) noexcept {
  BARE_ASSERT(range.begin >= kAreaBegin && range.end <= kAreaEnd && range.begin % kPage == 0);
  if (!split_ends(range)) return false;
  each_entry(range, Reserve{true});
  return true;
}

void take_away(Range range, Absence instead) noexcept {
  BARE_ASSERT(instead == Absence::kNothing || instead == Absence::kReserved || instead == Absence::kGuard);
  const bool with_tables = instead == Absence::kNothing;
  bool any = false;
  ExclusiveAccess exclusive;
  each_entry(range, Mark{!with_tables, &any});
  if (any) forget_translations_everywhere(range);
  if (any || with_tables) each_entry(range, Give{!with_tables, instead});
}

Filled fill(std::uint64_t address, LastFrames last) noexcept {
  if (address < kAreaBegin || address >= kAreaEnd) return Filled::kNotReserved;
  SharedAccess shared;
  const Found found = look_up(address);
  if ((found.entry & kPresent) != 0) return Filled::kYes;  // another CPU filled it meanwhile
  if (!is(found.entry, Absence::kReserved)) return Filled::kNotReserved;
  Entry* const entry = entry_of(address, 1);
  const Frame frame = entry == nullptr ? 0 : take_frame(last);
  if (frame == 0) return Filled::kNoMemory;
  Entry expected = absent(Absence::kReserved);
  if (std::atomic_ref<Entry>(*entry).compare_exchange_strong(expected, frame | kReadWrite, std::memory_order_acq_rel))
    return Filled::kYes;
  give_frame(frame);
  return (expected & kPresent) != 0 ? Filled::kYes : Filled::kNotReserved;
}

}  // namespace janus::bare
