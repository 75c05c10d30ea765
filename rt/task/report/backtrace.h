// SPDX-License-Identifier: Apache-2.0
// rt/task/report/backtrace.h — return addresses along the frame pointers, as long as they lie on the stack that the code ran
// on, and the functions that they lie in, where the program's file has symbols.
#pragma once

#include "rt/base/format.h"
#include "rt/mem/stack.h"

namespace janus {

// A position in a walk along the frames, and the bounds of the stack.
struct Place {
  std::uint64_t ip, fp;
  std::uint64_t low, high;  // of the stack
  std::uint64_t inside;     // `ip`, or the byte before a return address, which may be the first one behind its function

  // Moves to the caller of this frame. False: no further caller can be made out. The frame may hold anything by now, so
  // it is read by copies that may fail.
  [[nodiscard]] bool step() noexcept;
};

// `stack` nullptr: the stack is unknown; the walk then ends at `ip`.
Place place_on(const Stack* stack, std::uint64_t ip, std::uint64_t fp) noexcept;
// Moves out of the runtime's own frames, to the code that called it. `place` is unchanged if that cannot be made out.
void leave_runtime(Place& place) noexcept;

// Appends " <function+0x12>", or nothing. C++ names stay mangled; the runtime's own mangled names are left out, since
// they tell a user nothing.
void append_function(TextWriter& text, std::uint64_t address) noexcept;

// Appends one line. Frames that would not fit are left out, and so are the runtime's own once one of the program's has been
// shown: they lie between a task and the code on whose stack it runs, and tell a user nothing.
inline constexpr unsigned kMaxFrames = 24;
void append_frames(TextWriter& text, Place place, unsigned most) noexcept;
inline void append_frames(TextWriter& text, const Stack* stack, std::uint64_t ip, std::uint64_t fp) noexcept {
  append_frames(text, place_on(stack, ip, fp), kMaxFrames);
}

}  // namespace janus
