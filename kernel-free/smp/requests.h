// SPDX-License-Identifier: Apache-2.0
// requests.h — what one CPU asks of all others: a fence, or to forget what they know of the page tables.
//
// INVARIANT nobody-is-skipped-wrongly: a CPU that is halted need not answer, as it passes a full fence and looks at the
// counts both when it goes to sleep and when it wakes.
//   ask:   1 raise the wanted count   2 full fence   3 look who is halted; wait for the others
//   sleep: 1 is_halted = true   2 full fence   3 halt   4 is_halted = false   5 full fence   6 look at the counts
// The fences are totally ordered: either the asker's 1 comes before the sleeper's 6, or its 3 sees the sleeper awake.
#pragma once

#include <cstdint>

#include "kernel-free/boot/memory_map.h"

namespace janus::bare {

struct Cpu;

// So many pages are forgotten one by one, more with all that a CPU knows: it then looks up again what it goes on using.
inline constexpr std::uint64_t kMostAlone = 32;
inline constexpr Range kEverything{0, ~std::uint64_t{0}};

// Returns when every CPU has done it. With interrupts on or off; while waiting, answers others.
void fence_everywhere() noexcept;
// Of these addresses, whole pages; no table that is taken away served them, unless they are more than kMostAlone pages.
// One at a time: within Excluding.
void forget_translations_everywhere(Range range) noexcept;

// What emulator.h says, again: an emulator forgets by itself when devices come to lie somewhere. Returns at once;
// others do it when they next answer, or wake.
void widen_translations_everywhere() noexcept;

// Does what others have asked of this CPU, if anything. Interrupts are off.
void answer_requests(Cpu& here) noexcept;

// In loops that wait with interrupts off.
void wait_a_moment() noexcept;

}  // namespace janus::bare
