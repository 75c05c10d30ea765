// SPDX-License-Identifier: Apache-2.0
// vector_state.h — the registers that traps do not save: x87, SSE, AVX, AVX-512, as far as the processor has them.
#pragma once

#include <cstddef>

namespace janus::bare {

// The registers in the layout of fxsave or xsave.
struct alignas(64) VectorState {
  std::byte bytes[2688];
};

// Enables all of these registers on the calling CPU.
void enable_vectors_here() noexcept;

// Sets `state` to the values that a thread begins with.
void init_vectors(VectorState& state) noexcept;

void save_vectors(VectorState& state) noexcept;
void load_vectors(const VectorState& state) noexcept;

// Sets the calling CPU's registers to the values that a thread begins with.
void clean_vectors() noexcept;

}  // namespace janus::bare
