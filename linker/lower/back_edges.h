// SPDX-License-Identifier: Apache-2.0
// back_edges.h — which blocks go round a loop.
#pragma once

#include <cstdint>
#include <vector>

namespace janus::lower {

// Calls `visit(block, index)` for each edge that leads back to a block that a depth-first walk from the entry is still within:
// the successor of that index. Every cycle has such an edge, however many entries it has. An unknown successor (UINT32_MAX)
// counts as one. `successors(block)` gives a vector of block numbers.
template <class Successors, class Visit>
void visit_back_edges(std::uint32_t count, const Successors& successors, const Visit& visit) {
  enum : std::uint8_t { kNew, kWithin, kDone };
  std::vector<std::uint8_t> state(count, kNew);
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
    const std::uint32_t index = step.next++, target = targets[index];
    if (target == UINT32_MAX || state[target] == kWithin) {
      visit(step.block, index);
    } else if (state[target] == kNew) {
      state[target] = kWithin;
      path.push_back({target, 0});
    }
  }
}

// For each block, whether one of its edges is such an edge.
template <class Successors>
std::vector<bool> blocks_with_back_edges(std::uint32_t count, const Successors& successors) {
  std::vector<bool> result(count, false);
  visit_back_edges(count, successors, [&result](std::uint32_t block, std::uint32_t) { result[block] = true; });
  return result;
}

}  // namespace janus::lower
