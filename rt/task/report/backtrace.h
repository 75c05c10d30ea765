// SPDX-License-Identifier: Apache-2.0
// rt/task/report/backtrace.h — return addresses along the frame pointers, as far as these lie on the stack that the
// code ran on, and the names of their functions, if the program's file has symbols.
#pragma once

#include "rt/base/format.h"
#include "rt/mem/stack.h"

namespace janus {

// A frame in a walk along the frame pointers, and the bounds of the stack.
struct Place {
  std::uint64_t ip, fp;
  std::uint64_t low, high;  // of the stack
  std::uint64_t inside;     // an address inside the function: `ip`, or the byte before a return address

  // Moves to the caller of this frame. False: no further caller can be found. The frame may be overwritten, so it is
  // read by copies that may fail.
  [[nodiscard]] bool step() noexcept;
};

// `stack` nullptr: the stack is unknown; the walk then ends at `ip`.
Place place_on(const Stack* stack, std::uint64_t ip, std::uint64_t fp) noexcept;
// Moves out of the runtime's frames, to the code that called it. Leaves `place` unchanged if it finds no such code.
void leave_runtime(Place& place) noexcept;

// Appends " <function+0x12>", or nothing. C++ names stay mangled; mangled names of the runtime are left out, since they
// mean nothing to users.
void append_function(TextWriter& text, std::uint64_t address) noexcept;

// Appends one line. Leaves out frames that would not fit, and the runtime's frames after the first one of the program:
// they lie between a task and the code on whose stack it runs, and mean nothing to users.
inline constexpr unsigned kMaxFrames = 24;
void append_frames(TextWriter& text, Place place, unsigned most) noexcept;
inline void append_frames(TextWriter& text, const Stack* stack, std::uint64_t ip, std::uint64_t fp) noexcept {
  append_frames(text, place_on(stack, ip, fp), kMaxFrames);
}

}  // namespace janus
