// SPDX-License-Identifier: Apache-2.0
// emulator.cpp — see emulator.h.
#include "kernel-free/smp/emulator.h"

#include "kernel-free/cpu/hypervisor.h"
#include "kernel-free/cpu/instructions.h"

namespace janus::bare {
namespace {

Range g_touched{0, 0};

}  // namespace

void use_for_widening(Range mapped) noexcept {
  g_touched = mapped;
}

// For one table size after the other, touches a page for each place and then makes the CPU forget all translations. A
// table that is already wider keeps its size, or becomes twice as wide as the touched part.
void widen_translations_here() noexcept {
  if (!is_below(kEmulator)) return;
  for (std::uint64_t places = kMinPlaces; places < kPlaces; places *= 2) {
    if (g_touched.end - g_touched.begin < places * kPage) return;
    for (std::uint64_t n = 0; n < places; ++n) touch(reinterpret_cast<const std::byte*>(g_touched.begin + n * kPage));
    write_cr3(read_cr3());
  }
}

}  // namespace janus::bare
