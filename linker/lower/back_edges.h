// SPDX-License-Identifier: Apache-2.0
// back_edges.h — finds the edges of a control flow graph that close a loop.
#pragma once

#include <cstdint>
#include <vector>

namespace janus::lower {

// Calls `visit(block, index)` for each back edge: an edge whose target is on the current path of a depth-first walk
// from the entry. `index` is the number of the edge among the block's successors. Every cycle has a back edge, however
// many entries the cycle has. An edge to an unknown successor (UINT32_MAX) counts as a back edge. `successors(block)`
// gives a vector of block numbers.
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

// For each block, whether one of its edges is a back edge.
template <class Successors>
std::vector<bool> blocks_with_back_edges(std::uint32_t count, const Successors& successors) {
  std::vector<bool> result(count, false);
  visit_back_edges(count, successors, [&result](std::uint32_t block, std::uint32_t) { result[block] = true; });
  return result;
}

}  // namespace janus::lower
