// SPDX-License-Identifier: Apache-2.0
// rt/base/atomic.h — the atomic words and the fences that protocols between workers are made of. In what ships they are
// std::atomic and the processor's own instructions. tests/models puts another file in the place of this one, where each
// access is a step that an explorer may delay, and so runs the sources that include it in every order.
#pragma once

#include <atomic>
#include <cstdint>

#include <arch/cpu.h>
#include <arch/opaque.h>

namespace janus {

template <typename T>
using Atomic = std::atomic<T>;

using arch::cmp_acquire;
using arch::cmp_relaxed;
using arch::compiler_barrier;
using arch::full_fence;
using arch::pause;

// A constant on which speed depends and correctness does not: `shipped`. In a model, whose programs are a few steps
// long, it is the other one.
constexpr std::uint32_t tunable(std::uint32_t shipped, [[maybe_unused]] std::uint32_t in_model) noexcept {
  return shipped;
}

}  // namespace janus
