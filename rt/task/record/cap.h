// SPDX-License-Identifier: Apache-2.0
// rt/task/record/cap.h — the record of a token: the rights and the limit that whoever presents it has.
// tests/models/cap_model_test.cpp runs these very functions. docs/decisions/0340
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/base/atomic.h"

namespace janus {

class Account;

// What a token may give; the numbers are the ABI's JANUS_CAP_*.
enum class Right : std::uint8_t { kSpawn = 1, kBudget = 2, kSyscall = 4, kExit = 8, kPin = 16, kPriority = 32 };
inline constexpr std::uint8_t kAllRights = 63;
// What a task in a cage may not do, unless a token that was presented in the cage, or at its wall, gives the right.
inline constexpr std::uint8_t kRightsOutsideCages = 8 | 16;

inline constexpr unsigned kMaxCapDepth = 16;

// Whether a token and all those that it derives from are in force.
//
// INVARIANT revoked-at-once: a check that begins after a revoke has returned fails, of that token and of all derived from it.
//   revoke: 1 is_revoked = 1                       2 epoch += 1
//   check:  1 seen = epoch     2 clean_epoch == seen? it is in force     3 else nobody above is revoked? clean_epoch = seen
// A clean_epoch was stored by who had read that epoch before it looked. Whoever reads the epoch of a revoke, by an acquire
// whose partner is the release of the revoke's step 2, sees its step 1. So what was found before a revoke is under an
// earlier epoch, and is looked for again. A revoke takes one step, however many tokens derive from it.
struct CapLife {
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};  // as a clean_epoch

  CapLife* parent;  // nullptr: of the root's
  Atomic<std::uint64_t> clean_epoch;
  Atomic<std::uint8_t> is_revoked;
  // Set once; here, since there is room.
  std::uint8_t rights;
  std::uint8_t depth;
  bool owns_limit;
  std::uint32_t generation;  // of the record

  // False: somebody has revoked it before, or is doing so. The epoch grows all the same: he may not have come to that yet.
  [[nodiscard]] bool revoke(Atomic<std::uint64_t>& epoch) noexcept {
    const bool is_first = is_revoked.exchange(1, std::memory_order_relaxed) == 0;
    epoch.fetch_add(1, std::memory_order_release);  // pairs with is_in_force()
    return is_first;
  }

  // `steps` grows by the tokens that were looked at.
  [[nodiscard]] bool is_in_force(const Atomic<std::uint64_t>& epoch, unsigned& steps) noexcept {
    const std::uint64_t seen = epoch.load(std::memory_order_acquire);  // pairs with revoke()
    if (clean_epoch.load(std::memory_order_relaxed) == seen) return true;
    for (const CapLife* up = this; up != nullptr; up = up->parent, ++steps) {
      if (up->is_revoked.load(std::memory_order_relaxed) != 0) return false;
    }
    clean_epoch.store(seen, std::memory_order_relaxed);
    return true;
  }
};

// The record is type-stable, and serves one token after the other. References: one until the token is revoked or its
// deriver ends, one for each token derived from it, for each nursery and task that carries it, and for each call that it
// was given to. A record with references is not given back, so who has one can read the tokens above it.
struct alignas(64) Cap {
  Cap* next;   // for the slab; with `link`: the list of what one task has derived
  Cap** link;  // what points to it in that list; nullptr: it is in none. Both under CapTable::lock
  CapLife life;
  Atomic<std::uint64_t> secret_and_references;  // the upper half of its handle, and the count
  Account* limit;                               // what BUDGET recharges from; a reference keeps its record
  Account* payer;                               // of this record
};
static_assert(sizeof(Cap) == 64 && offsetof(Cap, life) == 16);

inline Cap* parent_of(const Cap& cap) noexcept {
  CapLife* const above = cap.life.parent;
  return above != nullptr ? reinterpret_cast<Cap*>(reinterpret_cast<std::byte*>(above) - offsetof(Cap, life)) : nullptr;
}

}  // namespace janus
