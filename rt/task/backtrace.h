// SPDX-License-Identifier: Apache-2.0
// rt/task/backtrace.h — return addresses along the frame pointers, as long as they lie on the stack that we stood on,
// and the functions that they lie in, where the program's file tells.
#pragma once

#include "rt/base/format.h"
#include "rt/mem/stack.h"

namespace janus {

// Where somebody stands, and on which stack.
struct Place {
  std::uint64_t ip, fp;
  std::uint64_t low, high;  // of the stack
  std::uint64_t inside;     // `ip`, or the byte before a return address, which may be the first one behind its function

  // To the caller of this frame. False: it is the last that can be made out. The frame may be anything by now.
  [[nodiscard]] bool step() noexcept;
};

// `stack` nullptr: nobody knows which.
Place place_on(const Stack* stack, std::uint64_t ip, std::uint64_t fp) noexcept;
// Out of the runtime's own frames, into whoever called it.
void leave_runtime(Place& place) noexcept;

// " <function+0x12>", or nothing. What C++ made of a name stays as it is; the runtime's own of that kind say nothing to
// anybody, and are left out.
void append_function(TextWriter& text, std::uint64_t address) noexcept;

// As a line. What would not fit is left out.
inline constexpr unsigned kMostFrames = 24;
void append_frames(TextWriter& text, Place place, unsigned most) noexcept;
inline void append_frames(TextWriter& text, const Stack* stack, std::uint64_t ip, std::uint64_t fp) noexcept {
  append_frames(text, place_on(stack, ip, fp), kMostFrames);
}

}  // namespace janus
