// SPDX-License-Identifier: Apache-2.0
// dominators.h — tells whether one block of a function is on every path from the entry to another (dominates it).
#pragma once

#include <cstdint>
#include <vector>

#include "ll_module.h"

namespace janus::lower {

// The algorithm of Lengauer and Tarjan with path compression: its time is near linear, whatever the shape of the function.
class Dominators {
 public:
  explicit Dominators(const std::vector<Block>& blocks);

  // Whether every path from the entry to block `b` goes through block `a`; true if no path leads to `b`.
  bool dominates(std::uint32_t a, std::uint32_t b) const;

 private:
  // By order of a depth-first walk from the entry.
  struct Node {
    std::uint32_t block, parent;
    std::uint32_t semi, best;  // the semidominator, and the node with the least one on the compressed path
    std::uint32_t ancestor;    // kNoIndex for the root of a compressed tree
    std::uint32_t idom = 0;
    std::vector<std::uint32_t> predecessors, bucket;
    std::uint32_t begin = 0, size = 1;  // in a preorder of the dominator tree: the node and all that it dominates
  };

  void walk(const std::vector<Block>& blocks);
  void find_dominators();
  void number();
  std::uint32_t best_of(std::uint32_t node);

  std::vector<std::uint32_t> node_of_;  // by block; kNoIndex where no path leads to it
  std::vector<Node> nodes_;
};

}  // namespace janus::lower
