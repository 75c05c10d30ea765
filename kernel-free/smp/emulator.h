// SPDX-License-Identifier: Apache-2.0
// emulator.h — QEMU's emulator (TCG) keeps the translations of a CPU in a table, each at its page's number modulo the
// table's size, so that two pages at one place evict each other whenever they are used in turns. Only when the CPU
// forgets all translations (cr3) is the table resized: it is doubled if more than 70 of 100 places were in use, and
// shrunk to the used number of places, down to 64, if fewer than 30 were for a tenth of a second. Firmware uses few
// places. A kernel makes its CPUs forget at each switch of processes; here that hardly ever happens, so the table would
// stay as narrow as the firmware left it. QEMU: accel/tcg/cputlb.c. docs/decisions/0286
#pragma once

#include "kernel-free/cpu/page.h"

namespace janus::bare {

inline constexpr unsigned kMinPlaces = 64, kPlaces = 2048;

// Sets the range whose pages are touched for widening: long, and never unmapped. Called once, on the first CPU.
void use_for_widening(Range mapped) noexcept;

// Widens the calling CPU's table to kPlaces, or as far as the pages of that range allow. Does nothing on real processors
// and below other hypervisors. Requires our page tables in force, and this CPU's features enabled, since each mode of a
// CPU has a table of its own.
void widen_translations_here() noexcept;

}  // namespace janus::bare
