// SPDX-License-Identifier: Apache-2.0
// loops.h — the loops of a control flow graph: which edges go back, and where an iteration ends.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace janus::lower {

// A depth-first walk begins at the function's entry. An edge to a block on the walk's current path is a back edge, and
// that block is the head of a loop. The loop is made of all cycles through its head, except cycles with a block that the
// walk met before the head: those belong to the loop of that block. So every cycle that the entry reaches has a back
// edge, even if the cycle can be entered at several blocks. An edge to an unknown successor (UINT32_MAX) counts as a back
// edge, though of no loop. A block that the entry does not reach has no back edges. Successors are told apart by their
// index in the list of their block.
class Loops {
 public:
  using Targets = std::vector<std::uint32_t>;  // blocks
  using Successors = std::function<const Targets&(std::uint32_t block)>;

  // `successors` must stay valid for the life of this object.
  Loops(std::uint32_t count, Successors successors);

  bool is_back_edge(std::uint32_t block, std::uint32_t index) const;
  // For each edge of the block's last instruction, whether it ends an iteration: it is a back edge, or leaves the loop
  // that another edge of the instruction continues. Empty if none is a back edge. The instruction has the successors
  // from `first` on.
  std::vector<bool> iteration_ends(std::uint32_t block, std::uint32_t first) const;

 private:
  struct Node {
    std::uint32_t number = 0;           // in the order of the walk, from 1; 0 if the block is not reached
    std::uint32_t depth = 0;            // on the walk's path, from 1; 0 if the block is not on it
    std::uint32_t head = UINT32_MAX;    // of the innermost loop that has the block, without a loop whose head it is
    std::vector<std::uint32_t> back{};  // indexes of successors, ascending
  };

  void walk();
  void put_into_loop(std::uint32_t block, std::uint32_t head);
  std::uint32_t head_on_path(std::uint32_t block) const;
  bool is_in_loop(std::uint32_t block, std::uint32_t head) const;

  Successors successors_;
  std::vector<Node> nodes_;
};

}  // namespace janus::lower
