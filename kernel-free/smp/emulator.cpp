// SPDX-License-Identifier: Apache-2.0
// emulator.cpp — see emulator.h.
#include "kernel-free/smp/emulator.h"

#include "kernel-free/cpu/hypervisor.h"
#include "kernel-free/cpu/instructions.h"
#include "kernel-free/memory/frames.h"
#include "kernel-free/smp/per_cpu.h"

namespace janus::bare {

// For one table size after the other, touches a page for each place and then makes the CPU forget them all. A table
// that is wider already keeps its size, or becomes twice as wide as what was touched.
void widen_translations_here() noexcept {
  if (!is_below(kEmulator)) return;
  const Range memory = longest_range();
  for (std::uint64_t places = kMinPlaces; places < kPlaces; places *= 2) {
    if (memory.end - memory.begin < places * kPage) return;
    for (std::uint64_t n = 0; n < places; ++n) touch(at_physical<const std::byte>(memory.begin + n * kPage));
    write_cr3(read_cr3());
  }
}

}  // namespace janus::bare
