// SPDX-License-Identifier: Apache-2.0
// qtjir_calls.h — the calls of a function: immediate ones, and ones that are deferred to its exit.
#pragma once

#include <string>
#include <vector>

#include "qtjir_text.h"
#include "qtjir_yield_points.h"

namespace janus::lower::qtjir {

// Collects one function's deferred calls. Text, yield points and the instructions must outlive it.
class Calls {
 public:
  Calls(FunctionText& text, YieldPoints& points) : text_(text), points_(points) {}

  void call(const Instruction& one);
  void defer(const Instruction& one);
  void write_exit();

 private:
  struct Deferred {
    std::string is_armed;                // a local
    std::vector<std::string> arguments;  // locals
    const Instruction* instruction;
  };

  void call_body(const Instruction& one, const FunctionHead& target, const std::string& list, bool may_unwind);
  std::string external_arguments(const Instruction& one, const FunctionHead& target);
  void run(const Deferred& deferred);
  std::string variadic_type(const FunctionHead& target) const;

  FunctionText& text_;
  YieldPoints& points_;
  std::vector<Deferred> deferred_;
};

}  // namespace janus::lower::qtjir
