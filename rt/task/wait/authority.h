// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/authority.h — may this task do that? The one place that answers it, by kinship, by the walls of cages, by
// grants and by tokens. docs/security.md has the table of what each call asks. docs/decisions/0161, 0204, 0340
//
// Threads outside tasks belong to the host, and may do everything; the callers handle them.
//
// A nursery that carries a token confines its tasks: they have the token's rights, and no others. Nurseries that they open
// carry the same one, unless they present another. Tasks that no token confines have all rights implicitly; in a cage
// all but kRightsOutsideCages. Where a grant of 0 and a token both speak, both must allow.
#pragma once

#include "rt/base/errors.h"
#include "rt/budget/accounts.h"
#include "rt/optional.h"
#include "rt/task/record/cap.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/runtime.h"
#include "rt/task/record/task.h"
#include "rt/task/wait/ancestry.h"

namespace janus {

// Whether the running task may spawn into that nursery, cancel, close or read it: the task is at or below the owner,
// and the nursery is in its cage, that is, on the task's account or one below.
[[nodiscard]] inline bool may_use(const Task& self, const Nursery& nursery) noexcept {
  return is_at_or_below(self, nursery) &&
         (nursery.account == self.account || is_far_below(nursery.account, self.account));
}

// What a task is confined to. `cap` nullptr, if it is confined: it has no right at all.
struct Confinement {
  bool is_confined;
  Cap* cap;
};
[[nodiscard]] inline Confinement confinement_of(const Nursery& nursery) noexcept {
  return {nursery.traits.is_confined, nursery.traits.is_confined ? nursery.cap : nullptr};
}
// `self`: the running task.
[[nodiscard]] inline Confinement confinement_of(const Task& self) noexcept {
  if (self.is_marked(TaskMarks::kHasContext) && self.frame->details.cap != nullptr) [[unlikely]]
    return {true, self.frame->details.cap};
  return confinement_of(*self.nursery);
}

// Whether the token, of which the caller has a reference, is in force. If the caller is a task, it pays for the walk.
[[nodiscard, JANUS_OPTIONAL]] bool is_in_force(const Runtime& runtime, Cap& cap) noexcept;
// The same. Not a weak symbol, so that who makes tokens is linked with what is asked of them.
[[nodiscard]] bool is_cap_in_force(const Runtime& runtime, Cap& cap) noexcept;
// Whether the token gives the right; nullptr gives none.
[[nodiscard]] inline bool does_give(const Runtime& runtime, Cap* cap, Right right) noexcept {
  return cap != nullptr && (cap->life.rights & static_cast<std::uint8_t>(right)) != 0 && is_in_force(runtime, *cap);
}
// As does_give(), by comparisons alone. False also if only a walk can tell.
[[nodiscard]] inline bool does_give_at_once(const Runtime& runtime, const Cap* cap, Right right) noexcept {
  return cap != nullptr && (cap->life.rights & static_cast<std::uint8_t>(right)) != 0 &&
         cap->life.clean_epoch.load(std::memory_order_relaxed) == runtime.revoke_epoch.load(std::memory_order_acquire);
}
// Whether no token keeps the running task from it.
[[nodiscard]] bool is_permitted(const Task& self, Right right) noexcept;
// As is_permitted(), for kRightsOutsideCages.
[[nodiscard]] bool is_permitted_in_cage(const Task& self, Right right) noexcept;
// Whether a token was presented in the cage of the running task, or at its wall, or if there is no cage around it.
[[nodiscard, JANUS_OPTIONAL]] bool was_given_cap_in_cage(const Task& self) noexcept;
[[nodiscard]] inline bool has_cap_in_cage(const Task& self) noexcept {
  return was_given_cap_in_cage != nullptr && was_given_cap_in_cage(self);
}
// The rights that a task which no token confines has implicitly.
[[nodiscard]] std::uint8_t implicit_rights_of(const Task& self) noexcept;

// Whether that nursery is the task's to await and destroy.
[[nodiscard]] inline bool does_own(const Task* self, const Nursery& nursery) noexcept {
  return nursery.owner.load(std::memory_order_relaxed) == self;
}

// A child of a nursery has that nursery's rights, so a confined task may spawn only where these are no more than its own: in
// a nursery that it has opened itself, or that carries the task's token or one that derives from it. `within`: what the
// spawning task is confined to; nullptr: it may spawn anywhere. False: nowhere in that nursery.
[[nodiscard]] inline bool may_spawn_into(const Task& self, const Nursery& nursery, Confinement& its,
                                         const Confinement*& within) noexcept {
  its = confinement_of(self);
  within = its.is_confined && !does_own(&self, nursery) ? &its : nullptr;
  return within == nullptr || nursery.traits.is_confined;
}
// Whether the nursery, which is confined and cannot end now, may get a child that is spawned with the token `own`. Not if
// both tokens are nullptr.
[[nodiscard, JANUS_OPTIONAL]] bool may_have_child(const Nursery& nursery, const Confinement* within, Cap* own) noexcept;

// Whether the running task may have the result of `task`, which is of its runtime, and release its handle.
[[nodiscard]] inline bool may_have_result(const Task& self, const Task& task) noexcept {
  return &self == &task || is_at_or_below(self, *task.nursery);
}

// Why `account` cannot pay for one of `component`: it has used up what it was granted, or was granted none.
[[nodiscard]] inline int why_not_paid(const Accounts& accounts, const Account* account, Component component) noexcept {
  return accounts.granted(account, component) ? kErrorBudget : kErrorNoCap;
}

// Whether the task may end the process.
[[nodiscard]] bool may_end_process(const Task& self) noexcept;

// Whether the task may draw more for itself on the account that it shares. With a budget of its own, it gets more only if a
// task above recharges it.
[[nodiscard]] inline bool may_recharge_itself(const Task& self) noexcept {
  return !self.has(TaskFlags::kOwnAccount);
}

}  // namespace janus
