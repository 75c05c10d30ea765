// SPDX-License-Identifier: Apache-2.0
// ll_checks.h — the yield checks that the compiler adds to a function: at back edges of loops, and before calls.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ll_rewrite.h"

namespace janus::lower {

class YieldChecks {
 public:
  explicit YieldChecks(FunctionRewrite& rewrite) : rewrite_(rewrite) {}

  void insert();
  // Whether the function counts loop iterations that must be charged before it returns.
  bool counts() const { return !counter_.empty(); }
  // The line that charges the counted iterations; `place` is its debug location.
  std::string at_return(const std::string& place);

 private:
  void before(std::uint32_t i, const std::string& helper, const std::string& argument);
  std::string iterations(std::uint32_t i, const std::vector<bool>& ends, const std::string& type);
  std::string end_of_iteration(const Instruction& one, const std::vector<bool>& ends);
  std::size_t callee_of(const Instruction& one) const;
  bool is_checked_call(const Instruction& one) const;
  bool is_checked_function(std::string_view name) const;

  FunctionRewrite& rewrite_;
  std::string counter_;  // a variable that counts iterations
};

}  // namespace janus::lower
