// SPDX-License-Identifier: Apache-2.0
// rt/task/backtrace.h — return addresses along the frame pointers, as long as they lie on the stack that we stood on.
#pragma once

#include "rt/base/format.h"
#include "rt/mem/stack.h"

namespace janus {

// `stack` nullptr: only where it is.
template <std::size_t kCapacity>
void append_frames(Text<kCapacity>& text, const Stack* stack, std::uint64_t ip, std::uint64_t fp) noexcept {
  constexpr unsigned kMostFrames = 24;
  text.append("janus:   at %#lx", ip);
  const auto low = stack != nullptr ? reinterpret_cast<std::uint64_t>(stack->limit) : 0;
  const auto high = stack != nullptr ? reinterpret_cast<std::uint64_t>(stack->start) : 0;
  for (unsigned i = 0; i < kMostFrames && fp >= low && fp + 16 <= high && fp % 8 == 0; ++i) {
    const auto* const frame = reinterpret_cast<const std::uint64_t*>(fp);
    if (frame[1] == 0) break;
    text.append(" %#lx", frame[1]);
    if (frame[0] <= fp) break;
    fp = frame[0];
  }
  text.end_line();
}

}  // namespace janus
