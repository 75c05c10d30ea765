// SPDX-License-Identifier: Apache-2.0
// dominators_test.cpp — the dominators of random graphs, compared with the definition: block a dominates block b if no path
// leads from the entry to b once a is removed.
#include "dominators.h"

#include <cstdio>
#include <random>

namespace {

using janus::lower::Block;
using janus::lower::Dominators;
using janus::lower::kNoIndex;

// The blocks to which a path leads from block 0 that does not go through `removed`.
std::vector<bool> reached_without(const std::vector<Block>& blocks, std::uint32_t removed) {
  std::vector<bool> is_reached(blocks.size());
  std::vector<std::uint32_t> open;
  const auto reach = [&](std::uint32_t block) {
    if (block == kNoIndex || block == removed || is_reached[block]) return;
    is_reached[block] = true;
    open.push_back(block);
  };
  reach(0);
  while (!open.empty()) {
    const std::uint32_t block = open.back();
    open.pop_back();
    for (const std::uint32_t successor : blocks[block].successors) reach(successor);
  }
  return is_reached;
}

std::vector<Block> random_graph(std::mt19937& random) {
  std::vector<Block> blocks(1 + random() % 12);
  const std::size_t edges = random() % (3 * blocks.size());
  for (std::size_t i = 0; i < edges; ++i) {
    const bool is_unknown = random() % 20 == 0;
    blocks[random() % blocks.size()].successors.push_back(
        is_unknown ? kNoIndex : static_cast<std::uint32_t>(random() % blocks.size()));
  }
  return blocks;
}

// How many pairs are answered differently.
int differences(const std::vector<Block>& blocks) {
  const Dominators dominators(blocks);
  const auto count = static_cast<std::uint32_t>(blocks.size());
  const std::vector<bool> is_reached = reached_without(blocks, kNoIndex);
  int wrong = 0;
  for (std::uint32_t a = 0; a < count; ++a) {
    const std::vector<bool> without = reached_without(blocks, a);
    for (std::uint32_t b = 0; b < count; ++b) wrong += dominators.dominates(a, b) != (!is_reached[b] || !without[b]);
  }
  return wrong;
}

}  // namespace

int main() {
  std::mt19937 random(1);
  int wrong = 0;
  for (int i = 0; i < 20000; ++i) wrong += differences(random_graph(random));
  std::printf("1..1\n%s 1 - dominators of 20000 random graphs are those of the definition\n",
              wrong == 0 ? "ok" : "not ok");
  return wrong == 0 ? 0 : 1;
}
