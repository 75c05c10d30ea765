// SPDX-License-Identifier: Apache-2.0
// rt/base/atomic.h — the atomic words and the fences that protocols between workers use. In the runtime that ships they
// are std::atomic and the processor's own instructions. tests/models replaces this file by one in which each access is
// a step that an explorer may delay, and so runs the sources that include it in every order. docs/decisions/0148
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
using arch::difference_relaxed;
using arch::full_fence;
using arch::is_less_relaxed;
using arch::pause;
using arch::subtract_as_owner;

// A tuning constant: only speed depends on it, not correctness. `shipped` in the runtime; `in_model` in a model
// (tests/models), whose programs are only a few steps long.
constexpr std::uint32_t tunable(std::uint32_t shipped, [[maybe_unused]] std::uint32_t in_model) noexcept {
  return shipped;
}

}  // namespace janus
