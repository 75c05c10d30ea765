// SPDX-License-Identifier: Apache-2.0
// qtjir_text.h — the text of one function's body: lines, names, and the values of operands.
#pragma once

#include <string>
#include <string_view>

#include "qtjir_module.h"

namespace janus::lower::qtjir {

// Owns the head (the entry block's variables) and the body of the current function, and counts its names. One object
// serves all functions in turn, to reuse its memory. The caller owns the module.
class FunctionText {
 public:
  explicit FunctionText(Module& module) : module_(module) {}

  void restart();  // before the next function

  Module& module() const { return module_; }
  Helpers& helpers() const { return module_.helpers(); }
  const std::string& head() const { return head_; }
  const std::string& body() const { return body_; }

  template <class... Parts>
  void line(const Parts&... parts) {
    body_ += "  ";
    (body_.append(std::string_view(parts)), ...);
    body_ += '\n';
  }
  void begin(const std::string& label) { body_ += label + ":\n"; }

  std::string fresh(std::string_view what);
  std::string fresh_label() { return "go." + std::to_string(names_++); }
  static std::string block_label(std::size_t block) { return "block." + std::to_string(block); }
  static std::string register_at(std::uint32_t number) { return "%r." + std::to_string(number); }

  std::string pointer() const { return helpers().pointer(); }
  std::string to(const std::string& type) const { return helpers().pointer_to(type); }
  std::string local(const std::string& type, std::string_view what);  // a variable whose first value is 0 or null

  // The operand's value: a constant or register of its LLVM type.
  std::string value(const Operand& operand);
  std::string typed_value(const Operand& operand);
  std::string typed_values(const std::vector<Operand>& operands);  // a list of arguments
  void store_result(const Instruction& one, const std::string& type, const std::string& text);

 private:
  Module& module_;
  std::string head_, body_;
  std::size_t names_ = 0;
};

}  // namespace janus::lower::qtjir
