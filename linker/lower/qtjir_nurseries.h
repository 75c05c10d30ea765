// SPDX-License-Identifier: Apache-2.0
// qtjir_nurseries.h — the nurseries of a function, the tasks in them, and their joins.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "qtjir_text.h"
#include "qtjir_yield_points.h"

namespace janus::lower::qtjir {

// Writes the code of one function's nursery and task opcodes into `text`, and keeps the names of the local variables
// which that code uses. The caller owns `text` and `points`. `function` tells which nurseries are open at each
// instruction.
class Nurseries {
 public:
  Nurseries(FunctionText& text, YieldPoints& points, const Function& function)
      : text_(text), points_(points), function_(function) {}

  void reserve_locals();  // call before anything else

  void begin(const Instruction& one);
  void end(const Instruction& one);
  void await(const Instruction& one);
  void cancel(const Instruction& one);
  void create_task(const Instruction& one);
  void join_task(const Instruction& one);

  // Writes the blocks by which a cancel ends the function: they end the open nurseries, the innermost first.
  void write_unwinding();
  void write_exit();
  std::string scope_begin() const;  // the code that opens the scope, for the entry block

 private:
  struct Site {
    std::string nursery;  // a local of pointer type
    std::string list, outcome;
    bool is_opened = false;
  };

  const NurseryFlow::Stack& stack(std::uint32_t i) const { return function_.flow->stacks()[i]; }
  std::string load(const Site& site);
  void cancel(const Site& site);
  std::string end(Site& site);
  const std::string& list_of(Site& site);
  const std::string& outcome_of(Site& site);
  std::string budget_of(const Instruction& one);

  FunctionText& text_;
  YieldPoints& points_;
  const Function& function_;
  std::vector<Site> sites_;
  std::unordered_map<const Instruction*, std::uint32_t> site_of_;
  Site scope_;  // the nursery for SPAWN and fork outside of all others
};

}  // namespace janus::lower::qtjir
