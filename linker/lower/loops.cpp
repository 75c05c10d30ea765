// SPDX-License-Identifier: Apache-2.0
#include "loops.h"

#include <algorithm>
#include <utility>

namespace janus::lower {

namespace {
constexpr std::uint32_t kNone = UINT32_MAX;
}  // namespace

Loops::Loops(std::uint32_t count, Successors successors) : successors_(std::move(successors)), nodes_(count) {
  if (count != 0) walk();
}

bool Loops::is_back_edge(std::uint32_t block, std::uint32_t index) const {
  return std::binary_search(nodes_[block].back.begin(), nodes_[block].back.end(), index);
}

std::vector<bool> Loops::iteration_ends(std::uint32_t block, std::uint32_t first) const {
  const Targets& targets = successors_(block);
  const std::vector<std::uint32_t>& back = nodes_[block].back;
  std::vector<bool> ends;
  if (back.empty() || back.back() < first) return ends;
  // The block is in the loops of all these heads, so they are nested: what leaves any of them leaves the innermost.
  std::uint32_t innermost = kNone;
  for (const std::uint32_t index : back) {
    const std::uint32_t head = targets[index];
    if (index >= first && head != kNone && (innermost == kNone || nodes_[head].number > nodes_[innermost].number))
      innermost = head;
  }
  for (std::uint32_t index = first; index < targets.size(); ++index)
    ends.push_back(is_back_edge(block, index) || (innermost != kNone && !is_in_loop(targets[index], innermost)));
  return ends;
}

// The walk finds the loops as it goes: T. Wei, J. Mao, W. Zou, Y. Chen, A New Algorithm for Identifying Loops in
// Decompilation, 2007.
void Loops::walk() {
  struct Step {
    std::uint32_t block, next;
  };
  std::vector<Step> path;
  std::uint32_t count = 0;
  const auto enter = [&](std::uint32_t block) {
    path.push_back({block, 0});
    nodes_[block].number = ++count;
    nodes_[block].depth = static_cast<std::uint32_t>(path.size());
  };
  enter(0);
  while (!path.empty()) {
    const std::uint32_t block = path.back().block, index = path.back().next++;
    const Targets& targets = successors_(block);
    if (index == targets.size()) {
      nodes_[block].depth = 0;
      path.pop_back();
      if (!path.empty()) put_into_loop(path.back().block, nodes_[block].head);
      continue;
    }
    const std::uint32_t target = targets[index];
    if (target == kNone) {
      nodes_[block].back.push_back(index);
    } else if (nodes_[target].depth != 0) {
      nodes_[block].back.push_back(index);
      put_into_loop(block, target);
    } else if (nodes_[target].number == 0) {
      enter(target);
    } else {
      put_into_loop(block, head_on_path(target));
    }
  }
}

// The block is in the loop of this head, which is on the path: the loops of the block are ordered by the depths of
// their heads.
void Loops::put_into_loop(std::uint32_t block, std::uint32_t head) {
  if (head == kNone) return;
  while (block != head) {
    const std::uint32_t next = nodes_[block].head;
    if (next == head) return;
    if (next == kNone || nodes_[next].depth < nodes_[head].depth) {
      nodes_[block].head = head;
      if (next == kNone) return;
      block = head;
      head = next;
    } else {
      block = next;
    }
  }
}

// The head of the innermost loop that has the block and whose head is on the path.
std::uint32_t Loops::head_on_path(std::uint32_t block) const {
  std::uint32_t head = nodes_[block].head;
  while (head != kNone && nodes_[head].depth == 0) head = nodes_[head].head;
  return head;
}

// A head has a smaller number than the other blocks of its loop.
bool Loops::is_in_loop(std::uint32_t block, std::uint32_t head) const {
  while (block != kNone && nodes_[block].number > nodes_[head].number) block = nodes_[block].head;
  return block == head;
}

}  // namespace janus::lower
