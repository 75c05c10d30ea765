// SPDX-License-Identifier: Apache-2.0
// rt/abi/cap.cpp — tokens: the root's, deriving and revoking. Apart, so that programs without tokens are linked without
// them. docs/decisions/0340
#include "rt/task/nurseries/cap.h"
#include "rt/abi/entry/budget_convert.h"
#include "rt/abi/entry/entry.h"
#include "rt/abi/entry/runtime_table.h"
#include "rt/task/account/exhaustion.h"
#include "rt/task/wait/slice.h"

namespace janus {

namespace {

// The runtime of a token that the caller names, kept alive as long as this object is. A task finds its own runtime alone:
// tokens of others are none of its business.
class RuntimeOfCap {
 public:
  RuntimeOfCap(const Caller& me, janus_cap cap) noexcept {
    const unsigned number = runtime_number_of(cap.raw);
    if (me.task != nullptr) {
      Runtime* const own = &runtime_of(*me.worker);
      if (own->number == number || cap.raw == 0) runtime_ = own;
    } else if (cap.raw != 0) {
      runtime_ = pin_runtime(number);
      pinned_ = number;
    }
  }
  ~RuntimeOfCap() {
    if (pinned_ != kNotPinned) unpin_runtime(pinned_);
  }
  RuntimeOfCap(const RuntimeOfCap&) = delete;
  RuntimeOfCap& operator=(const RuntimeOfCap&) = delete;

  // The token, with a reference for the caller.
  [[nodiscard]] Cap* find(const Caller& me, janus_cap cap) const noexcept {
    return runtime_ != nullptr ? find_cap(me.task != nullptr ? me.worker : nullptr, *runtime_, cap.raw) : nullptr;
  }
  [[nodiscard]] Runtime* get() const noexcept { return runtime_; }

 private:
  static constexpr unsigned kNotPinned = ~0u;
  Runtime* runtime_ = nullptr;
  unsigned pinned_ = kNotPinned;
};

constexpr int kNoSuchCap = with_why(JANUS_E_NO_CAP, Why::kCap);

// What a token derives from: the token above, and of whose limit it has a part.
struct Source {
  Cap* above;  // a reference
  std::uint8_t rights;
  Account* limit;
};

// {0} stands for what the calling task has without presenting anything.
Source own_source(Runtime& runtime, const Task& self) noexcept {
  const Confinement to = confinement_of(self);
  Cap* const above = to.is_confined ? to.cap : root_cap(runtime);
  if (above == nullptr) return {};
  hold_cap(*above);
  if (to.is_confined && has_cap_in_cage(self)) return {above, kAllRights, above->limit};
  return {above, implicit_rights_of(self), self.account};
}

// Who gives a token a part of a limit has to have the right to recharge from it.
bool may_give(const Source& source) noexcept {
  return (source.above->life.rights & static_cast<std::uint8_t>(Right::kBudget)) != 0;
}

OrError<Cap*> derive(const Caller& me, const RuntimeOfCap& where, janus_cap cap, std::uint32_t rights,
                     janus_budget limit) noexcept {
  Source source{};
  if (cap.raw == 0 && me.task != nullptr) {
    source = own_source(*where.get(), *me.task);
  } else if (Cap* const named = where.find(me, cap)) {
    source = {named, kAllRights, named->limit};
  }
  if (source.above == nullptr) return Failed{kNoSuchCap};
  Runtime& runtime = *where.get();
  OrError<Cap*> derived = Failed{kNoSuchCap};
  if (is_given(limit) && !may_give(source)) {
    derived = Failed{with_why(JANUS_E_NO_CAP, Why::kRight)};
  } else if (is_cap_in_force(runtime, *source.above)) {
    const Amounts amounts = amounts_of(limit);
    if (is_given(limit)) let_wait_for_budgets(runtime);
    if (is_given(limit) && me.task != nullptr) take_fuel_unchecked(*me.worker, price::kFence);  // it may need one
    derived = derive_cap(runtime, me.task, *source.above, static_cast<std::uint8_t>(rights & source.rights),
                         source.limit, is_given(limit) ? &amounts : nullptr);
  }
  if (derived) {
    drop_cap(runtime, *source.above);
    return derived;
  }
  set_error_left(me, &runtime, source.limit, derived.error);
  drop_cap(runtime, *source.above);
  return derived;
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" {

janus_cap janus_cap_root(janus_rt* rt) {
  const Caller me = enter();
  Runtime* const own = me.task != nullptr ? &runtime_of(*me.worker) : nullptr;
  int error = 0;
  if (me.task != nullptr &&
      !(me.task->nursery->traits.is_root && (rt == nullptr || reinterpret_cast<Runtime*>(rt) == own)))
    error = JANUS_E_NO_CAP;
  if (me.task == nullptr) error = rt == nullptr ? JANUS_E_NO_TASK : 0;
  const RuntimeOfPointer other(me.task == nullptr ? rt : nullptr);
  Runtime* const runtime = me.task != nullptr ? own : other.get();
  if (error == 0 && runtime == nullptr) error = JANUS_E_STALE;
  Cap* const root = error == 0 ? root_cap(*runtime) : nullptr;
  if (error == 0 && root == nullptr) error = JANUS_E_NO_MEMORY;
  if (root != nullptr && root->life.is_revoked.load(std::memory_order_relaxed) != 0) error = kNoSuchCap;
  if (error == 0) return {handle_of(*runtime, *root)};
  set_error(me, error);
  return {0};
}

janus_cap janus_cap_derive(janus_cap cap, uint32_t rights, janus_budget limit) {
  const Caller me = enter();
  const RuntimeOfCap where(me, cap);
  if (me.task == nullptr && where.get() == nullptr) {
    set_error(me, cap.raw != 0 ? kNoSuchCap : JANUS_E_NO_TASK);
    return {0};
  }
  if (where.get() == nullptr) {
    set_error(me, kNoSuchCap);
    return {0};
  }
  const OrError<Cap*> derived = derive(me, where, cap, rights, limit);
  if (!derived) {
    if (derived.error == kNoSuchCap) set_error(me, kNoSuchCap);
    return {0};
  }
  return {handle_of(*where.get(), *derived.value)};
}

int janus_cap_revoke(janus_cap cap) {
  const Caller me = enter(price::kCall + price::kRevoke);
  if (cap.raw == 0) return JANUS_E_INVALID;
  const RuntimeOfCap where(me, cap);
  Cap* const found = where.find(me, cap);
  if (found == nullptr) return JANUS_E_NO_CAP;
  const bool was_in_force = is_cap_in_force(*where.get(), *found);
  const bool is_done = revoke_cap(*where.get(), *found) && was_in_force;
  drop_cap(*where.get(), *found);
  return is_done ? 0 : JANUS_E_NO_CAP;
}

}  // extern "C"
