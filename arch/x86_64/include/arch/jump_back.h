// SPDX-License-Identifier: Apache-2.0
// jump_back.h — for the last step of a function that may switch fibers. The processor predicts the target of a ret by
// the calls before it: after a switch those were another fiber's, and each ret whose call was made before the switch
// costs some 20 cycles. It predicts a jump by the jump's earlier targets, which repeat if two partners take turns. So a
// function that leaves a fiber in the middle is called from here, as its caller's last action: its one ret matches the
// call in here, the same for all fibers, and the return to the caller's caller is a jump.
#pragma once

extern "C" {
// Returns fn(a, b, c, d, e). To be called last (as a jump), so that it returns to the caller's caller.
int janus_jump_back(void* a, void* b, void* c, void* d, void* e, int (*fn)(void*, void*, void*, void*, void*));
}

namespace janus::arch {

// For a walk along the frame pointers: janus_jump_back() links no frame, so the frame of fn leads to the frame of the
// function that janus_jump_back() returns to, and the address in that function lies this far above the frame of fn.
inline constexpr unsigned kJumpBackReturn = 24;  // above fn's saved rbp, its return address, and the padding

inline constexpr unsigned kJumpBackBytes = 14;
inline bool is_in_jump_back(unsigned long ip) noexcept {
  return ip - reinterpret_cast<unsigned long>(janus_jump_back) < kJumpBackBytes;
}

}  // namespace janus::arch
