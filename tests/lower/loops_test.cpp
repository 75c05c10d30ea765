// SPDX-License-Identifier: Apache-2.0
// loops_test.cpp — the loops of all small graphs and of random larger ones, compared with the definition: the loop of a
// head is the head and each block that is first reached while the head is on the walk's path, and from which a path of
// such blocks leads back to the head.
#include "loops.h"

#include <cstdio>
#include <random>

namespace {

using janus::lower::Loops;

using Graph = std::vector<Loops::Targets>;  // by block
constexpr std::uint32_t kUnknown = UINT32_MAX;

class Definition {
 public:
  explicit Definition(const Graph& graph) : graph_(graph), begin_(graph.size()), end_(graph.size()) { visit(0); }

  bool is_reached(std::uint32_t block) const { return begin_[block] != 0; }
  bool is_back_edge(std::uint32_t block, std::uint32_t target) const {
    return is_reached(block) && (target == kUnknown || is_below(block, target));
  }
  std::vector<bool> iteration_ends(std::uint32_t block, std::uint32_t first) const {
    const Loops::Targets& targets = graph_[block];
    std::vector<bool> ends;
    bool has_back_edge = false;
    for (std::uint32_t index = first; index < targets.size(); ++index) {
      has_back_edge = has_back_edge || is_back_edge(block, targets[index]);
      ends.push_back(is_back_edge(block, targets[index]) || leaves_a_loop(block, first, targets[index]));
    }
    return has_back_edge ? ends : std::vector<bool>();
  }

 private:
  void visit(std::uint32_t block) {
    begin_[block] = ++time_;
    for (const std::uint32_t target : graph_[block])
      if (target != kUnknown && !is_reached(target)) visit(target);
    end_[block] = ++time_;
  }

  // Whether `block` is first reached while `top` is on the path, or is `top`.
  bool is_below(std::uint32_t block, std::uint32_t top) const {
    return begin_[top] <= begin_[block] && end_[block] <= end_[top];
  }

  bool leads_back(std::uint32_t block, std::uint32_t head, std::vector<bool>& seen) const {
    for (const std::uint32_t target : graph_[block]) {
      if (target == head) return true;
      if (target == kUnknown || seen[target] || !is_below(target, head)) continue;
      seen[target] = true;
      if (leads_back(target, head, seen)) return true;
    }
    return false;
  }

  bool is_in_loop(std::uint32_t block, std::uint32_t head) const {
    std::vector<bool> seen(graph_.size());
    return block == head || (is_below(block, head) && leads_back(block, head, seen));
  }

  // Whether an edge of the instruction goes back to the head of a loop that does not have `target`.
  bool leaves_a_loop(std::uint32_t block, std::uint32_t first, std::uint32_t target) const {
    for (std::uint32_t index = first; index < graph_[block].size(); ++index) {
      const std::uint32_t head = graph_[block][index];
      if (head != kUnknown && is_back_edge(block, head) && !is_in_loop(target, head)) return true;
    }
    return false;
  }

  const Graph& graph_;
  std::vector<std::uint32_t> begin_, end_;  // when the walk enters and leaves a block; 0: it does not
  std::uint32_t time_ = 0;
};

bool is_as_defined(const Graph& graph) {
  const Definition definition(graph);
  const Loops loops(static_cast<std::uint32_t>(graph.size()),
                    [&graph](std::uint32_t block) -> const Loops::Targets& { return graph[block]; });
  for (std::uint32_t block = 0; block < graph.size(); ++block) {
    for (std::uint32_t index = 0; index < graph[block].size(); ++index) {
      if (loops.is_back_edge(block, index) != definition.is_back_edge(block, graph[block][index])) return false;
      if (loops.iteration_ends(block, index) != definition.iteration_ends(block, index)) return false;
    }
  }
  return true;
}

// The graph with this number, of those with `blocks` blocks that have at most two successors each.
Graph numbered_graph(std::uint32_t blocks, std::uint64_t number) {
  Graph graph(blocks);
  const std::uint32_t targets = blocks + 1;
  for (Loops::Targets& successors : graph) {
    std::uint64_t list = number % (1 + targets + targets * targets);
    number /= 1 + targets + targets * targets;
    if (list == 0) continue;
    list -= 1;
    if (list >= targets) {
      list -= targets;
      successors.push_back(static_cast<std::uint32_t>(list / targets));
      list %= targets;
    }
    successors.push_back(static_cast<std::uint32_t>(list));
    for (std::uint32_t& target : successors)
      if (target == blocks) target = kUnknown;
  }
  return graph;
}

int wrong_small_graphs() {
  int wrong = 0;
  for (std::uint32_t blocks = 1; blocks <= 4; ++blocks) {
    std::uint64_t count = 1;
    for (std::uint32_t i = 0; i < blocks; ++i) count *= 1 + (blocks + 1) + (blocks + 1) * (blocks + 1);
    for (std::uint64_t number = 0; number < count; ++number) wrong += !is_as_defined(numbered_graph(blocks, number));
  }
  return wrong;
}

int wrong_random_graphs() {
  std::mt19937 random(1);
  int wrong = 0;
  for (int i = 0; i < 20000; ++i) {
    Graph graph(2 + random() % 14);
    const std::size_t edges = random() % (3 * graph.size());
    for (std::size_t n = 0; n < edges; ++n) {
      const bool is_unknown = random() % 20 == 0;
      graph[random() % graph.size()].push_back(is_unknown ? kUnknown
                                                          : static_cast<std::uint32_t>(random() % graph.size()));
    }
    wrong += !is_as_defined(graph);
  }
  return wrong;
}

}  // namespace

int main() {
  const int small = wrong_small_graphs(), random = wrong_random_graphs();
  std::printf("1..2\n%s 1 - loops of all graphs of up to four blocks with two successors are those of the definition\n",
              small == 0 ? "ok" : "not ok");
  std::printf("%s 2 - loops of 20000 random graphs are those of the definition\n", random == 0 ? "ok" : "not ok");
  return small + random == 0 ? 0 : 1;
}
