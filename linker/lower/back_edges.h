// SPDX-License-Identifier: Apache-2.0
// back_edges.h — which blocks go round a loop.
#pragma once

#include <cstdint>
#include <vector>

namespace janus::lower {

// For each block, whether one of its edges leads back to a block that a depth-first walk from the entry is still within.
// Every cycle has such an edge, however many entries it has. An unknown successor (UINT32_MAX) counts as one.
// `successors(block)` gives a vector of block numbers.
template <class Successors>
std::vector<bool> blocks_with_back_edges(std::uint32_t count, const Successors& successors) {
  enum : std::uint8_t { kNew, kWithin, kDone };
  std::vector<std::uint8_t> state(count, kNew);
  std::vector<bool> result(count, false);
  struct Step {
    std::uint32_t block, next;
  };
  std::vector<Step> path;
  if (count != 0) {
    path.push_back({0, 0});
    state[0] = kWithin;
  }
  while (!path.empty()) {
    Step& step = path.back();
    const auto& targets = successors(step.block);
    if (step.next == targets.size()) {
      state[step.block] = kDone;
      path.pop_back();
      continue;
    }
    const std::uint32_t target = targets[step.next++];
    if (target == UINT32_MAX || state[target] == kWithin) {
      result[step.block] = true;
    } else if (state[target] == kNew) {
      state[target] = kWithin;
      path.push_back({target, 0});
    }
  }
  return result;
}

}  // namespace janus::lower
