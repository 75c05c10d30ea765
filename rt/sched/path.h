// SPDX-License-Identifier: Apache-2.0
// rt/sched/path.h — the assumptions under which an operation is compiled. Each operation is written once, as a template
// over the path where that matters; a call of the C ABI chooses the path at its entry, by the comparison with the
// worker's stack limit that it makes anyway (Scheduler::kAlwaysSlow, docs/decisions/0192).
#pragma once

#include <cstdint>

namespace janus {

enum class Path : std::uint8_t {
  // General path: assumes nothing.
  kGeneral,
  // Fast path: requires that the machine has a heavy fence, so hot paths need no fence; that the scheduler is not
  // deterministic, so nothing is traced and no other worker has to be stepped; and that the stack ends in a guard page,
  // so there is no canary to check.
  kFast,
};

}  // namespace janus
