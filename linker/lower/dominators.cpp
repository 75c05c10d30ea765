// SPDX-License-Identifier: Apache-2.0
#include "dominators.h"

#include <algorithm>

namespace janus::lower {

Dominators::Dominators(const std::vector<Block>& blocks) : node_of_(blocks.size(), kNoIndex) {
  walk(blocks);
  find_dominators();
  number();
}

bool Dominators::dominates(std::uint32_t a, std::uint32_t b) const {
  if (node_of_[b] == kNoIndex) return true;
  if (node_of_[a] == kNoIndex) return false;
  const Node &outer = nodes_[node_of_[a]], &inner = nodes_[node_of_[b]];
  return inner.begin - outer.begin < outer.size;
}

void Dominators::walk(const std::vector<Block>& blocks) {
  struct Step {
    std::uint32_t node;
    std::size_t next;
  };
  std::vector<Step> path;
  const auto enter = [&](std::uint32_t block, std::uint32_t parent) {
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    node_of_[block] = node;
    nodes_.push_back({block, parent, node, node, kNoIndex, 0, {}, {}});
    path.push_back({node, 0});
  };
  if (!blocks.empty()) enter(0, 0);
  while (!path.empty()) {
    const std::uint32_t node = path.back().node;
    const std::vector<std::uint32_t>& successors = blocks[nodes_[node].block].successors;
    if (path.back().next == successors.size()) {
      path.pop_back();
      continue;
    }
    const std::uint32_t successor = successors[path.back().next++];
    if (successor == kNoIndex) continue;
    if (node_of_[successor] == kNoIndex) enter(successor, node);
    nodes_[node_of_[successor]].predecessors.push_back(node);
  }
}

void Dominators::find_dominators() {
  for (auto i = static_cast<std::uint32_t>(nodes_.size()); i-- > 1;) {
    Node& node = nodes_[i];
    for (const std::uint32_t predecessor : node.predecessors)
      node.semi = std::min(node.semi, nodes_[best_of(predecessor)].semi);
    nodes_[node.semi].bucket.push_back(i);
    node.ancestor = node.parent;
    for (const std::uint32_t waiting : nodes_[node.parent].bucket) {
      const std::uint32_t best = best_of(waiting);
      nodes_[waiting].idom = nodes_[best].semi < nodes_[waiting].semi ? best : node.parent;
    }
    nodes_[node.parent].bucket.clear();
  }
  for (std::uint32_t i = 1; i < nodes_.size(); ++i)
    if (nodes_[i].idom != nodes_[i].semi) nodes_[i].idom = nodes_[nodes_[i].idom].idom;
}

// The node with the least semidominator on the path from `node` up to, but without, the root of its tree. Shortens that
// path.
std::uint32_t Dominators::best_of(std::uint32_t node) {
  if (nodes_[node].ancestor == kNoIndex) return node;
  std::vector<std::uint32_t> path;
  for (std::uint32_t at = node; nodes_[nodes_[at].ancestor].ancestor != kNoIndex; at = nodes_[at].ancestor)
    path.push_back(at);
  for (; !path.empty(); path.pop_back()) {
    Node& below = nodes_[path.back()];
    const Node& above = nodes_[below.ancestor];
    if (nodes_[above.best].semi < nodes_[below.best].semi) below.best = above.best;
    below.ancestor = above.ancestor;
  }
  return nodes_[node].best;
}

// Sets the ranges. A node's immediate dominator has a smaller index than the node.
void Dominators::number() {
  for (auto i = static_cast<std::uint32_t>(nodes_.size()); i-- > 1;) nodes_[nodes_[i].idom].size += nodes_[i].size;
  std::vector<std::uint32_t> free(nodes_.size(), 1);  // by node: where the next one that it dominates begins
  for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
    nodes_[i].begin = free[nodes_[i].idom];
    free[nodes_[i].idom] += nodes_[i].size;
    free[i] = nodes_[i].begin + 1;
  }
}

}  // namespace janus::lower
