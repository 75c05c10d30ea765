// SPDX-License-Identifier: Apache-2.0
// page_tables.h — the page tables, which are the only record of mappings: an entry that is not present contains the
// reason.
// docs/decisions/0110, 0287
//
// INVARIANT shared-or-exclusive: a CPU that reads or fills the area of mappings has SharedAccess, so that no table is
// freed while it uses it. A CPU that removes pages or tables has ExclusiveAccess: it waits until no CPU has
// SharedAccess, and keeps others from getting it. Within SharedAccess an entry changes by compare-and-exchange, and
// only away from kReserved, kNothing or kGuard. Plain stores are allowed only to entries of a block that no other CPU
// can use, because it is free or not mapped yet.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel-free/memory/frames.h"
#include "kernel-free/smp/lock.h"

namespace janus::bare {

using Entry = std::uint64_t;

enum EntryBit : Entry {
  kPresent = 1,
  kWritable = 1 << 1,
  kUncached = 1 << 4,
  kUsed = 1 << 5 | 1 << 6,  // accessed and dirty, so that the processor need not write them
  kLarge = 1 << 7,
  kNoExecute = Entry{1} << 63,
};
inline constexpr Entry kAddressBits = 0x000f'ffff'ffff'f000;
inline constexpr Entry kReadWrite = kPresent | kWritable | kUsed | kNoExecute;
inline constexpr Entry kReadOnly = kPresent | kUsed | kNoExecute;
inline constexpr Entry kReadExecute = kPresent | kUsed;

// Why an entry is not present, in its bits 1 to 3. In the area of mappings:
//     kNothing --reserve--> kReserved --fill--> present --take_away--> kLeaving --> kReserved, kGuard or kNothing
//     kReserved <--set and clear guards--> kGuard          kFree <--give and take blocks--> kNothing
enum class Absence : std::uint8_t {
  kNothing,   // no mapping: a fault
  kReserved,  // filled with a zeroed page at the first touch
  kGuard,     // a fault; a touch never fills it
  kFree,      // the first entry of a free block; the rest of it names the next one (addresses.h)
  kLeaving,   // being removed; still names its frame or table
};
[[nodiscard]] constexpr Entry absent(Absence why, Entry rest = 0) noexcept {
  return rest | static_cast<Entry>(why) << 1;
}
[[nodiscard]] constexpr bool is(Entry entry, Absence why) noexcept {
  return (entry & 0xf) == absent(why);
}
[[nodiscard]] constexpr bool is_table(Entry entry, unsigned level) noexcept {
  return level > 1 && (entry & (kPresent | kLarge)) == kPresent;
}

// Level 1 holds pages, 4 is the top. An entry of a level spans this much.
[[nodiscard]] constexpr std::uint64_t span_of(unsigned level) noexcept {
  return std::uint64_t{1} << (12 + 9 * (level - 1));
}
[[nodiscard]] constexpr unsigned index_of(std::uint64_t address, unsigned level) noexcept {
  return static_cast<unsigned>(address / span_of(level)) & 511;
}

// --- At boot, and later for device registers: by one CPU at a time. False: no memory for tables. ---

[[nodiscard]] bool make_tables() noexcept;
// Uses large pages where whole ones fit.
[[nodiscard]] bool map_physical(std::uint64_t address, Range physical, Entry bits) noexcept;
// Unmaps a small page that map_physical() mapped; only the calling CPU forgets its translation.
void unmap_physical(std::uint64_t page) noexcept;
void use_tables_here() noexcept;
[[nodiscard]] Frame top_table() noexcept;

// --- The area of mappings ---

class SharedAccess {
 public:
  SharedAccess() noexcept;
  ~SharedAccess();
  SharedAccess(const SharedAccess&) = delete;
  SharedAccess& operator=(const SharedAccess&) = delete;

 private:
  IrqOff<kTablesStack> irq_off_;
};

class ExclusiveAccess {
 public:
  ExclusiveAccess() noexcept;
  ~ExclusiveAccess();
  ExclusiveAccess(const ExclusiveAccess&) = delete;
  ExclusiveAccess& operator=(const ExclusiveAccess&) = delete;

 private:
  IrqOff<kTablesStack> irq_off_;
};

// The entry of `level` for an address. Makes missing tables on the way, with the meaning of the entry above. nullptr:
// no memory. Within SharedAccess.
[[nodiscard]] Entry* entry_of(std::uint64_t address, unsigned level) noexcept;

// Reserves a range in which nothing is mapped. False: no memory, and nothing was reserved. Within SharedAccess.
[[nodiscard]] bool reserve(Range range) noexcept;

// Frees the pages in the range; their entries become `instead`. With kNothing the range must be a whole block; frees
// its guards and the tables that served only it, too. Takes ExclusiveAccess itself.
void take_away(Range range, Absence instead) noexcept;

enum class Filled : std::uint8_t { kYes, kNotReserved, kNoMemory };
// Maps a zeroed page where one is reserved. May be called in any trap; no lock that it takes itself may be held.
[[nodiscard]] Filled fill(std::uint64_t address, LastFrames last = LastFrames::kTake) noexcept;

// The entry that maps an address, or says why it is not mapped, and its level. In the area of mappings: within
// SharedAccess, except at boot and in tests.
struct Found {
  Entry entry;
  unsigned level;
};
[[nodiscard]] Found look_up(std::uint64_t address) noexcept;

}  // namespace janus::bare
