// SPDX-License-Identifier: Apache-2.0
// qtjir_channels.h — the channels that a function makes, and transfers by channels.
#pragma once

#include <string>

#include "qtjir_text.h"
#include "qtjir_yield_points.h"

namespace janus::lower::qtjir {

// Owns the list of the channels that one function makes; the channels live until the function ends. The caller owns the
// text and the yield points.
class Channels {
 public:
  Channels(FunctionText& text, YieldPoints& points) : text_(text), points_(points) {}

  void create(const Instruction& one);
  void transfer(const Instruction& one, const Block& block, bool has_back_edge);
  void close(const Instruction& one);
  void write_exit();

 private:
  FunctionText& text_;
  YieldPoints& points_;
  std::string list_;  // a local
};

}  // namespace janus::lower::qtjir
