// SPDX-License-Identifier: Apache-2.0
// emulator.h — QEMU's emulator (TCG) keeps the translations of a CPU in a table, each at its page's number modulo the
// table's size, so that two pages at one place put each other out whenever they take turns. When the CPU forgets them
// all (cr3), and only then, the table is made twice as wide if more than 70 of 100 places were in use, and as narrow as
// what was in use, down to 64, if fewer than 30 were for a tenth of a second. The firmware uses few. A kernel makes its
// CPUs forget as often as processes come and go; here hardly anything does, and what firmware left would stay.
// QEMU: accel/tcg/cputlb.c. docs/decisions/0286-an-emulator-widens-its-tables-when-told-to-forget.md
#pragma once

namespace janus::bare {

inline constexpr unsigned kLeastPlaces = 64, kPlaces = 2048;

// This CPU's table has kPlaces; as many as there are pages in the longest range of memory, if they are fewer. Does
// nothing on processors and below other hypervisors. Needs the page tables, and this CPU's features enabled: each mode
// has a table of its own.
void widen_translations_here() noexcept;

}  // namespace janus::bare
