// SPDX-License-Identifier: Apache-2.0
// qtjir_module.h — the state of one .qtjir file's output that all its functions share.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "ll_module.h"
#include "qtjir_ast.h"

namespace janus::lower::qtjir {

// The symbol of a function as LLVM spells it, with @.
std::string symbol(const std::string& name);
// How the C convention of x86-64 passes a value that is narrower than an i32, as clang has it: i1 is a bool, and other integers
// are signed, as print shows them. Empty for other types.
std::string_view extension_of(std::string_view type);
// The return type of the body of a function with this result: the result, followed by an i1 that is true if a cancel
// ended the body early.
std::string body_result(const std::string& result);

// Owns the text that has been written but not handed on, and the constant texts. The caller owns tokens, file and
// helpers, which must outlive this object.
class Module {
 public:
  Module(const Tokens& tokens, const File& file, Helpers& helpers, bool has_yield_checks)
      : tokens_(tokens), file_(file), helpers_(helpers), has_yield_checks_(has_yield_checks), text_(helpers.header()) {}

  const Tokens& tokens() const { return tokens_; }
  const File& file() const { return file_; }
  Helpers& helpers() const { return helpers_; }
  bool has_yield_checks() const { return has_yield_checks_; }
  std::string& text() { return text_; }

  // The LLVM type for a type of the file.
  std::string llvm(const std::string& type) const;
  std::string name_of(const FunctionHead& function) const { return std::string(tokens_.name(function.name)); }
  std::string body_symbol(const FunctionHead& function) const {
    return symbol(helpers_.prefix() + "body." + name_of(function));
  }
  // The result's type, with its extension, where C code gives or takes the result.
  std::string external_result(const FunctionHead& function) const;
  Signature signature(const FunctionHead& function) const;
  const FunctionHead& callee(const Instruction& one) const {
    return file_.functions[file_.by_name.at(std::string(tokens_.name(one.callee)))];
  }

  // The address of a constant text, as an operand of pointer type.
  std::string string(const std::string& contents);

  void declare(const FunctionHead& function);
  // Writes the constants and declarations that the functions requested.
  void finish(const TakePiece& take);
  // Hands on the text written so far.
  void hand_on(const TakePiece& take);

 private:
  void write_strings();

  const Tokens& tokens_;
  const File& file_;
  Helpers& helpers_;
  const bool has_yield_checks_;
  std::string text_;
  std::map<std::string, std::string> strings_;  // symbols by contents
};

}  // namespace janus::lower::qtjir
