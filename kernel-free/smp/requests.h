// SPDX-License-Identifier: Apache-2.0
// requests.h — requests from one CPU to all others: to execute a fence, to forget translations of addresses, or to
// widen an emulator's table of translations (emulator.h).
//
// INVARIANT nobody-is-skipped-wrongly: a CPU that is halted need not answer, since it executes a full fence and checks
// the counts both when it goes to sleep and when it wakes.
//   ask:   1 raise the wanted count   2 full fence   3 read each is_halted; wait for the CPUs that are not
//   sleep: 1 is_halted = true   2 full fence   3 check the counts   4 halt
//   wake:  5 is_halted = false  6 full fence   7 check the counts
// The fences are totally ordered: either the asker's 1 comes before the sleeper's 7, or its 3 sees the sleeper awake.
#pragma once

#include <cstdint>

#include "kernel-free/cpu/page.h"

namespace janus::bare {

struct Cpu;

// Up to this many pages are forgotten one by one; for more, a CPU forgets all its translations, and looks up again
// those that it still uses.
inline constexpr std::uint64_t kMaxAlone = 32;
inline constexpr Range kEverything{0, ~std::uint64_t{0}};

// Returns when every CPU has executed a full fence. With interrupts on or off; answers other CPUs' requests while it
// waits.
void fence_everywhere() noexcept;
// Returns when every CPU has forgotten its translations of `range`, whole pages. If these are kMaxAlone pages or fewer,
// no table that served them may have been removed. One call at a time: within ExclusiveAccess.
void forget_translations_everywhere(Range range) noexcept;

// Widens the tables of emulator.h again on all CPUs: an emulator forgets translations by itself when a device's
// registers are placed in memory. Returns at once; other CPUs do it when they next answer requests, or wake.
void widen_translations_everywhere() noexcept;

// Executes the requests of other CPUs to this one, if any. Interrupts must be off.
void answer_requests(Cpu& here) noexcept;

// For loops that wait with interrupts off: answers requests, and pauses now and then.
void wait_a_moment() noexcept;

}  // namespace janus::bare
