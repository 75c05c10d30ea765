// SPDX-License-Identifier: Apache-2.0
// replaced/rt/task/wait/deadline.h — for models whose waits have no deadline.
#pragma once

#include "rt/task/wait/block.h"

namespace janus {

class Deadline {
 public:
  static bool has_passed() noexcept { return false; }
};
inline bool block_until(Task&, WaitReason, Publish, void*, Deadline&) noexcept {
  return false;
}
inline Deadline* deadline_for(const Task&, WaitReason) noexcept {
  return nullptr;
}

}  // namespace janus
