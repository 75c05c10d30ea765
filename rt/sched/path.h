// SPDX-License-Identifier: Apache-2.0
// rt/sched/path.h — the assumptions under which an operation is compiled. Each operation has one text, a template over
// them where they matter; a call of the C ABI chooses at its entry, by the compare with the worker's stack limit that
// it makes anyway (Scheduler::kAlwaysSlow, docs/decisions/0192).
#pragma once

#include <cstdint>

namespace janus {

enum class Path : std::uint8_t {
  // Nothing is assumed.
  kGeneral,
  // The machine has a heavy fence, so nobody fences on a hot path; the scheduler is not deterministic, so nothing is
  // traced and nobody else is to be stepped; the stack ends in a guard page, so it has no canary.
  kFast,
};

}  // namespace janus
