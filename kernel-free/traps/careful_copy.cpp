// SPDX-License-Identifier: Apache-2.0
// careful_copy.cpp — see careful_copy.h.
#include "kernel-free/traps/careful_copy.h"

extern "C" const char janus_copy_may_fault[], janus_copy_has_ended[];  // careful_copy.S

namespace janus::bare {

bool fix_up(TrapFrame& frame) noexcept {
  if (frame.rip != reinterpret_cast<std::uint64_t>(janus_copy_may_fault)) return false;
  frame.rip = reinterpret_cast<std::uint64_t>(janus_copy_has_ended);
  return true;
}

}  // namespace janus::bare
