// SPDX-License-Identifier: Apache-2.0
// rt/abi/keep.cpp — keepers of budgets. docs/decisions/0347
#include "rt/abi/channel_calls.h"
#include "rt/abi/entry/budget_convert.h"
#include "rt/abi/entry/entry.h"
#include "rt/abi/tenant.h"
#include "rt/task/channels/keeper.h"

using namespace janus;

extern "C" {

int janus_nursery_keep(janus_nursery* pointer, janus_channel* channel, const janus_budget* low) {
  const Caller me = enter();
  const OrError<Nursery*> found = check_tenant_from_above(pointer, me);
  if (!found) return found.error;
  Nursery& nursery = *found.value;
  static_assert(sizeof(janus_keep) == sizeof(KeepMessage));
  Amounts marks{};
  if (low != nullptr) marks = amounts_of(read_user<janus_budget>(low));
  if (channel != nullptr) {
    const OrError<Channel*> its = check_channel(me, channel);
    if (!its) return its.error;
    if (its.value->runtime != nursery.runtime || its.value->element_bytes != sizeof(KeepMessage))
      return JANUS_E_INVALID;
  }
  keep(worker_in(*nursery.runtime, me), nursery, word_of(channel), marks);
  return 0;
}

}  // extern "C"
