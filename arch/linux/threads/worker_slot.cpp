// SPDX-License-Identifier: Apache-2.0
// arch/linux/threads/worker_slot.cpp — the gs base: by instruction if the kernel allows it, else by system call.
#include <arch/worker_slot.h>

#include "arch/linux/auxv/auxv.h"
#include "arch/linux/kernel_call.h"
#include "rt/platform.h"

namespace janus::platform {
namespace {

enum class Way : std::uint8_t { kUnknown, kInstruction, kSystemCall };

// Determined by the first caller; concurrent callers find the same.
std::atomic<Way> g_way{Way::kUnknown};

Way way() {
  const Way known = g_way.load(std::memory_order_relaxed);
  if (known != Way::kUnknown) [[likely]]
    return known;
  const bool allowed = (kernel::aux_value(kernel::kAuxHwcap2, 0) & kernel::kHwcap2Fsgsbase) != 0;
  const Way found = allowed ? Way::kInstruction : Way::kSystemCall;
  g_way.store(found, std::memory_order_relaxed);
  return found;
}

// For Way::kSystemCall only. A system call takes a microsecond, in some sandboxes more; and in a host's process each
// call into the runtime first reads the slot. So each thread's slot is kept in a table, by its thread pointer, which is
// unique among living threads.
//
// INVARIANT one-thread-a-place: a place, once taken, belongs to one thread pointer for good, and only the thread with
// that pointer reads and writes `slot`. A later thread with the same pointer finds nullptr until it sets a slot, since
// a worker's thread resets its slot at its end.
struct Place {
  std::atomic<const void*> thread;  // nullptr: not taken
  std::atomic<void*> slot;
};
constexpr unsigned kPlacesBits = 8, kProbes = 8;
Place g_places[1 << kPlacesBits];

struct OwnPlace {
  Place* place;  // nullptr: other threads have taken all possible places
  bool is_new;   // `slot` is not set yet
};

OwnPlace own_place() noexcept {
  const void* const self = arch::thread_pointer();
  const std::uint64_t mixed = (reinterpret_cast<std::uintptr_t>(self) >> 6) * 0x9e3779b97f4a7c15u;  // Fibonacci hashing
  const std::uint64_t home = mixed >> (64 - kPlacesBits);
  for (unsigned n = 0; n < kProbes; ++n) {
    Place& place = g_places[(home + n) & ((1 << kPlacesBits) - 1)];
    const void* seen = place.thread.load(std::memory_order_relaxed);
    if (seen == self) return {&place, false};
    if (seen == nullptr && place.thread.compare_exchange_strong(seen, self, std::memory_order_relaxed))
      return {&place, true};
  }
  return {nullptr, false};
}

}  // namespace

void set_worker_slot(void* slot) noexcept {
  if (way() == Way::kInstruction) return arch::write_gs_base(reinterpret_cast<std::uint64_t>(slot));
  kernel::call(kernel::kArchPrctl, kernel::kArchSetGs, slot);
  if (Place* const place = own_place().place) place->slot.store(slot, std::memory_order_relaxed);
}

void* worker_slot() noexcept {
  if (way() == Way::kInstruction) return reinterpret_cast<void*>(arch::read_gs_base());
  const auto [place, is_new] = own_place();
  if (place != nullptr && !is_new) [[likely]]
    return place->slot.load(std::memory_order_relaxed);
  void* slot = nullptr;
  kernel::call(kernel::kArchPrctl, kernel::kArchGetGs, &slot);
  if (place != nullptr) place->slot.store(slot, std::memory_order_relaxed);
  return slot;
}

}  // namespace janus::platform
