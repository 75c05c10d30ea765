// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/records.h — charges the records of tasks, nurseries and channels. These calls never wait: they fail if
// the account has too little.
//
// The root account pays for records and stacks in bulk, when the pools grow (rt/budget/pool_charge.h), so that ordinary
// tasks cost no budget operations. Below an explicit budget each record is charged individually while it lives, and the
// root account pays that much less.
#pragma once

#include "rt/base/or_error.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/runtime.h"

namespace janus {

// Charges a record (of a nursery, a channel) to `payer` until refund_record(). Does nothing for the root account, which
// pays in bulk. False: the account has too little.
[[nodiscard]] bool pay_for_record(Runtime& runtime, Account* payer, std::uint64_t bytes) noexcept;
void refund_record(Runtime& runtime, Account* payer, std::uint64_t bytes) noexcept;

// Bounds the walks from an account to those above it, such as when a block is freed.
inline constexpr unsigned kMaxBudgetsAbove = 128;

// How long a task of a cage may hold its worker, in ns, if nothing else is said (rt/task/account/turn_limit.h).
inline constexpr std::uint64_t kDefaultHoldNs = 100'000'000;
// Opens an account below `parent`; if need be, unmaps idle stacks, which credits the root account. Fails if `parent`
// has too little, or if too many accounts are above it. `hold_ns`: how long a task on it may hold its worker, unless
// those on accounts above may less; platform::kForever: for ever; 0: as those above, or kDefaultHoldNs.
OrError<Account*> open_account(Runtime& runtime, Account* parent, const Amounts& wanted,
                               std::uint64_t hold_ns) noexcept;
// Called after Slab::take() returned nullptr. The error says whether the root's budget or the machine ran out.
OrError<void*> alloc_under_pressure(Runtime& runtime, Slab& slab, SlabCache* cache, bool has_paid) noexcept;
// Pays for a new child. Returns its account: the nursery's, or a new one below that. On failure nothing is drawn.
OrError<Account*> pay_for_spawn(Nursery& nursery, std::uint8_t stack_class, const Amounts* budget) noexcept;
void refund_spawn(Nursery& nursery, Account* account, std::uint8_t stack_class) noexcept;
// The bytes charged for a task below an explicit budget: of its record and its stack.
[[nodiscard]] std::uint64_t bytes_of_task(std::uint8_t stack_class) noexcept;

// Not cold: gcc would lay out what follows its callers' calls as cold, too.
template <auto kSlab, auto kCache>
[[gnu::noinline]] void give_record_beyond_cache(Worker& worker, void* record) noexcept {
  (runtime_of(worker).*kSlab).give(&(worker.*kCache), record);
}
// Gives the record of a task or nursery that is zeroed-when-free back to its slab: mostly to the worker's cache.
template <auto kSlab, auto kCache>
[[gnu::always_inline]] inline void give_record(Worker& worker, void* record) noexcept {
  if (Slab::has_room(worker.*kCache)) [[likely]]
    return Slab::give_hot(worker.*kCache, record);
  give_record_beyond_cache<kSlab, kCache>(worker, record);
}

}  // namespace janus
