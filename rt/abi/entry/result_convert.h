// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/result_convert.h — the result of a nursery or task, as users get it.
#pragma once

#include <bit>
#include <cstddef>

#include "rt/include/janus/rt.h"
#include "rt/task/nurseries/result.h"
#include "rt/task/wait/user_memory.h"

namespace janus {

static_assert(offsetof(ResultWords, was_cancelled) == offsetof(janus_result, was_cancelled));
inline janus_result result_of(const Report& report) noexcept {
  return std::bit_cast<janus_result>(words_of(report));
}

// `out`: where a user wants the result; may be nullptr.
inline void fill(janus_result* out, const Report& report) noexcept {
  if (out != nullptr) write_user(out, result_of(report));
}

}  // namespace janus
