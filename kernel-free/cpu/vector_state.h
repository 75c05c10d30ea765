// SPDX-License-Identifier: Apache-2.0
// vector_state.h — the registers that traps leave alone: x87, SSE, AVX, AVX-512, as far as the processor has them.
#pragma once

#include <cstddef>

namespace janus::bare {

// As fxsave or xsave lays them out.
struct alignas(64) VectorState {
  std::byte bytes[2688];
};

// Lets the calling CPU use all of them.
void enable_vectors_here() noexcept;

// What a thread begins with.
void init_vectors(VectorState& state) noexcept;

void save_vectors(VectorState& state) noexcept;
void load_vectors(const VectorState& state) noexcept;

// The registers of the calling CPU become what a thread begins with.
void clean_vectors() noexcept;

}  // namespace janus::bare
