// SPDX-License-Identifier: Apache-2.0
// rt/abi/tenant.h — finds a nursery with a budget of its own.
#pragma once

#include "rt/abi/entry/entry.h"

namespace janus {

// Finds the nursery that the caller may use, if it has a budget of its own.
inline OrError<Nursery*> check_tenant(const janus_nursery* named, const Caller& me) noexcept {
  const OrError<Nursery*> nursery = check(named, me);
  if (nursery && !nursery.value->traits.owns_account) return Failed{JANUS_E_STATE};
  return nursery;
}

// The same for what its own tasks must not do: the caller is not in the tenant, but above it, or outside tasks.
inline OrError<Nursery*> check_tenant_from_above(const janus_nursery* named, const Caller& me) noexcept {
  const OrError<Nursery*> nursery = check_tenant(named, me);
  if (nursery && me.task != nullptr && me.task->account == nursery.value->account) return Failed{JANUS_E_NO_CAP};
  return nursery;
}

}  // namespace janus
