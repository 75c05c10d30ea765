// SPDX-License-Identifier: Apache-2.0
// loops_test.cpp — the loops of random graphs and of all small ones, compared with two definitions: that of loops.h, and
// for a reducible graph also that of the textbook, which knows no walk: the target of a back edge dominates its source.
#include "loops.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <random>

namespace {

using janus::lower::Loops;
using Graph = std::vector<Loops::Targets>;  // the successors of each block
using Set = std::uint32_t;                  // of blocks, or of indexes of successors: a bit for each

constexpr std::uint32_t kUnknown = UINT32_MAX;
constexpr Set kAll = UINT32_MAX;

constexpr Set bit(std::size_t i) {
  return Set{1} << i;
}

struct Definition {
  std::vector<Set> back;   // for each block, the indexes of its successors that are back edges
  std::vector<Set> loops;  // for each block, the blocks of the loop whose head it is
};

// The blocks of `within` to which a path of blocks of `within` leads from `block`, which may be the empty path.
Set reached(const Graph& graph, std::uint32_t block, Set within) {
  Set found = bit(block) & within;
  for (Set before = 0; before != found;) {
    before = found;
    for (std::uint32_t b = 0; b < graph.size(); ++b)
      if (before & bit(b))
        for (const std::uint32_t target : graph[b])
          if (target != kUnknown) found |= bit(target) & within;
  }
  return found;
}

// Whether the entry reaches a cycle that has no edge of `back`.
bool has_other_cycle(const Graph& graph, const std::vector<Set>& back) {
  Graph rest(graph.size());
  for (std::uint32_t b = 0; b < graph.size(); ++b)
    for (std::uint32_t i = 0; i < graph[b].size(); ++i)
      if (!(back[b] & bit(i))) rest[b].push_back(graph[b][i]);
  const Set live = reached(graph, 0, kAll);
  for (std::uint32_t b = 0; b < graph.size(); ++b)
    if (live & bit(b))
      for (const std::uint32_t target : rest[b])
        if (target != kUnknown && (reached(rest, target, kAll) & bit(b))) return true;
  return false;
}

void walk(const Graph& graph, std::uint32_t block, Set path, std::vector<std::uint32_t>& order,
          Definition& definition) {
  order.push_back(block);
  path |= bit(block);
  for (std::uint32_t i = 0; i < graph[block].size(); ++i) {
    const std::uint32_t target = graph[block][i];
    if (target == kUnknown || (path & bit(target)))
      definition.back[block] |= bit(i);
    else if (std::find(order.begin(), order.end(), target) == order.end())
      walk(graph, target, path, order, definition);
  }
}

Definition by_walk(const Graph& graph) {
  Definition definition{std::vector<Set>(graph.size()), std::vector<Set>(graph.size())};
  std::vector<std::uint32_t> order;
  walk(graph, 0, 0, order, definition);
  Set earlier = 0;
  for (const std::uint32_t head : order) {
    const Set after_head = reached(graph, head, ~earlier);
    for (std::uint32_t b = 0; b < graph.size(); ++b)
      if ((after_head & bit(b)) && (reached(graph, b, ~earlier) & bit(head))) definition.loops[head] |= bit(b);
    earlier |= bit(head);
  }
  return definition;
}

// Nothing if the graph is irreducible.
std::optional<Definition> by_dominance(const Graph& graph) {
  Definition definition{std::vector<Set>(graph.size()), std::vector<Set>(graph.size())};
  const Set live = reached(graph, 0, kAll);
  for (std::uint32_t head = 0; head < graph.size(); ++head) {
    const Set dominated = live & ~reached(graph, 0, ~bit(head));
    Set ends = 0;  // the sources of the head's back edges
    for (std::uint32_t b = 0; b < graph.size(); ++b)
      for (std::uint32_t i = 0; i < graph[b].size(); ++i)
        if ((graph[b][i] == kUnknown && (live & bit(b))) || (graph[b][i] == head && (dominated & bit(b)))) {
          definition.back[b] |= bit(i);
          if (graph[b][i] == head) ends |= bit(b);
        }
    definition.loops[head] = bit(head);
    for (std::uint32_t b = 0; b < graph.size(); ++b)
      if ((live & bit(b)) && (reached(graph, b, ~bit(head)) & ends)) definition.loops[head] |= bit(b);
  }
  if (has_other_cycle(graph, definition.back)) return {};
  return definition;
}

std::vector<bool> iteration_ends(const Graph& graph, const Definition& definition, std::uint32_t block,
                                 std::uint32_t first) {
  const Loops::Targets& targets = graph[block];
  if (definition.back[block] >> first == 0) return {};
  std::vector<bool> ends;
  for (std::uint32_t i = first; i < targets.size(); ++i) {
    bool is_end = definition.back[block] & bit(i);
    for (std::uint32_t other = first; other < targets.size() && !is_end; ++other)
      is_end = (definition.back[block] & bit(other)) && targets[other] != kUnknown &&
               !(definition.loops[targets[other]] & bit(targets[i]));
    ends.push_back(is_end);
  }
  return ends;
}

bool is_like(const Loops& loops, const Graph& graph, const Definition& definition) {
  for (std::uint32_t b = 0; b < graph.size(); ++b) {
    for (std::uint32_t i = 0; i < graph[b].size(); ++i)
      if (loops.is_back_edge(b, i) != ((definition.back[b] & bit(i)) != 0)) return false;
    for (std::uint32_t first = 0; first <= graph[b].size(); ++first)
      if (loops.iteration_ends(b, first) != iteration_ends(graph, definition, b, first)) return false;
  }
  return true;
}

struct Tally {
  int graphs = 0, reducible = 0, wrong = 0;

  void add(const Graph& graph) {
    const Loops loops(static_cast<std::uint32_t>(graph.size()),
                      [&graph](std::uint32_t block) -> const Loops::Targets& { return graph[block]; });
    const Definition definition = by_walk(graph);
    const std::optional<Definition> textbook = by_dominance(graph);
    ++graphs;
    reducible += textbook.has_value();
    if (is_like(loops, graph, definition) && !has_other_cycle(graph, definition.back) &&
        (!textbook || is_like(loops, graph, *textbook)))
      return;
    if (wrong++ == 0) print(graph);
  }

  static void print(const Graph& graph) {
    std::printf("# the first graph that differs, each block with its successors:");
    for (std::uint32_t b = 0; b < graph.size(); ++b) {
      std::printf("%s %u:", b == 0 ? "" : ",", b);
      for (const std::uint32_t target : graph[b]) std::printf(" %d", static_cast<int>(target));
    }
    std::printf("\n");
  }

  bool report(int number, const char* what) const {
    const bool is_ok = wrong == 0 && reducible != 0 && reducible != graphs;
    std::printf("%s %d - loops of %d %s, %d of them reducible, are those of the definitions\n", is_ok ? "ok" : "not ok",
                number, graphs, what, reducible);
    return is_ok;
  }
};

// In half of the graphs a path goes through all blocks, so that more of them are reached and loops are nested deeper.
Graph random_graph(std::mt19937& random) {
  Graph graph(1 + random() % 12);
  const std::size_t edges = random() % (3 * graph.size());
  const bool has_path = random() % 2 == 0;
  for (std::size_t i = 0; i < edges; ++i) {
    const bool is_unknown = random() % 20 == 0;
    graph[random() % graph.size()].push_back(is_unknown ? kUnknown
                                                        : static_cast<std::uint32_t>(random() % graph.size()));
  }
  for (std::uint32_t b = 0; has_path && b + 1 < graph.size(); ++b) {
    const auto at = static_cast<std::ptrdiff_t>(random() % (graph[b].size() + 1));
    graph[b].insert(graph[b].begin() + at, b + 1);
  }
  return graph;
}

// All graphs whose blocks have at most two successors each, in every order.
void add_all(std::uint32_t count, bool has_unknown, Tally& tally) {
  std::vector<Loops::Targets> lists{{}};
  const std::uint32_t targets = count + has_unknown;
  const auto target = [count](std::uint32_t i) { return i == count ? kUnknown : i; };
  for (std::uint32_t a = 0; a < targets; ++a) {
    lists.push_back({target(a)});
    for (std::uint32_t b = 0; b < targets; ++b) lists.push_back({target(a), target(b)});
  }
  std::vector<std::size_t> chosen(count);
  Graph graph(count);
  for (std::uint32_t b = 0; b < count;) {
    tally.add(graph);
    for (b = 0; b < count; ++b) {
      chosen[b] = (chosen[b] + 1) % lists.size();
      graph[b] = lists[chosen[b]];
      if (chosen[b] != 0) break;
    }
  }
}

// The heads of `count` nested loops, then a switch that goes back to each of them, and to as many blocks that each go back
// to the innermost head. Time that grows with the third power of `count` would be more than the test has.
bool are_nested_ends_found(std::uint32_t count) {
  Graph graph;
  for (std::uint32_t b = 0; b < count; ++b) graph.push_back({b + 1});
  graph.emplace_back();
  std::vector<bool> ends;
  for (std::uint32_t b = 0; b < count; ++b) {
    graph[count].insert(graph[count].end(), {b, count + 1 + b});
    graph.push_back({count - 1});
    ends.insert(ends.end(), {true, false});
  }
  const Loops loops(static_cast<std::uint32_t>(graph.size()),
                    [&graph](std::uint32_t block) -> const Loops::Targets& { return graph[block]; });
  return loops.iteration_ends(count, 0) == ends;
}

}  // namespace

int main() {
  const Loops none(0, {});
  Tally of_random, of_all;
  std::mt19937 random(1);
  for (int i = 0; i < 50000; ++i) of_random.add(random_graph(random));
  for (std::uint32_t count = 1; count <= 3; ++count) add_all(count, true, of_all);
  add_all(4, false, of_all);
  std::printf("1..3\n");
  const bool are_random_ok = of_random.report(1, "random graphs");
  const bool are_all_ok = of_all.report(2, "graphs of up to 4 blocks");
  const bool are_nested_ok = are_nested_ends_found(5000);
  std::printf("%s 3 - the iterations that a switch ends in 5000 nested loops are found\n",
              are_nested_ok ? "ok" : "not ok");
  return are_random_ok && are_all_ok && are_nested_ok ? 0 : 1;
}
