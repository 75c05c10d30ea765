// SPDX-License-Identifier: Apache-2.0
// rt/task/record/why.h — which component of a budget is the reason of an error. docs/decisions/0320
#pragma once

#include "rt/base/errors.h"
#include "rt/budget/account.h"

namespace janus {

constexpr bool names_component(Why why) noexcept {
  return why >= Why::kOps && why <= Why::kSyscalls;
}
// The component that a Why names.
constexpr Component component_of(Why why) noexcept {
  return component_at(static_cast<unsigned>(why) - static_cast<unsigned>(Why::kOps));
}
constexpr Why why_short_of(Component component) noexcept {
  return static_cast<Why>(static_cast<unsigned>(component) + 1);
}
static_assert(why_short_of(Component::kOps) == Why::kOps && why_short_of(Component::kSyscalls) == Why::kSyscalls);

}  // namespace janus
