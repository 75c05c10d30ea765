// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/result_convert.h — the result of a nursery or task, as users get it.
#pragma once

#include "rt/include/janus/rt.h"
#include "rt/task/nurseries/result.h"
#include "rt/task/wait/user_memory.h"

namespace janus {

inline janus_result result_of(const Report& report) noexcept {
  return {static_cast<std::uint32_t>(report.outcome),
          report.errors,
          report.code,
          report.task_id,
          report.was_cancelled ? 1u : 0u,
          static_cast<std::uint32_t>(report.cause)};
}

// `out`: where a user wants the result; may be nullptr.
inline void fill(janus_result* out, const Report& report) noexcept {
  if (out != nullptr) write_user(out, result_of(report));
}

}  // namespace janus
