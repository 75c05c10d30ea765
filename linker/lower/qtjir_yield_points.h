// SPDX-License-Identifier: Apache-2.0
// qtjir_yield_points.h — the points where a function's task learns that it is cancelled, and the code that then leaves
// the function.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "qtjir_text.h"

namespace janus::lower::qtjir {

constexpr std::string_view kCancelled = "-1";  // JANUS_CANCELLED

// The yield points of one function. Owns the loops' counter, and records which stacks of nurseries need an unwinding
// block. The caller owns the text.
class YieldPoints {
 public:
  YieldPoints(FunctionText& text, const Function& function) : text_(text), unwinds_(!function.is_cleanup) {}

  // Whether a cancel ends the function early.
  bool unwinds() const { return unwinds_; }

  void check(const Instruction& one, std::string_view cost);  // the cost is a constant that the compiler chooses
  // `iterations`: an i32, 0 or 1; a constant or a name
  void check_loop(const Instruction& one, std::string_view iterations);
  void decrement(const Instruction& one);
  void yield(const Instruction& one);
  void sleep(const Instruction& one);

  // Writes a branch that leaves the function if the condition holds; `one` tells which nurseries are open there.
  void leave_if(const Instruction& one, const std::string& condition);
  void leave_if_cancelled(const Instruction& one);

  // The label of the block that ends the function where this stack of nurseries is open. The caller must write that
  // block later.
  std::string unwind_label(std::uint32_t stack);
  bool is_unwound(std::uint32_t stack) const { return unwound_.contains(stack); }

  void write_exit();

 private:
  void charge(const Instruction& one, std::string_view helper, std::string_view cost);
  void leave_if_negative(const Instruction& one, const std::string& status);

  FunctionText& text_;
  const bool unwinds_;
  std::string counter_;  // a local
  std::set<std::uint32_t> unwound_;
};

}  // namespace janus::lower::qtjir
