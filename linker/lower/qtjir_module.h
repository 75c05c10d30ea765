// SPDX-License-Identifier: Apache-2.0
// qtjir_module.h — the output of a .qtjir file: what its functions have in common.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "ll_module.h"
#include "qtjir_ast.h"

namespace janus::lower::qtjir {

// A name of a function as LLVM spells it, with @.
std::string symbol(const std::string& name);
// How the C convention of x86-64 passes a value that is narrower than an i32, as clang has it: i1 is a bool, and other integers
// are signed, as print shows them. Empty for other types.
std::string_view extension_of(std::string_view type);
// What a body returns whose function has this result: whether a cancel ended it early comes behind it.
std::string body_result(const std::string& result);

// Owns the text that is written and not handed on, and the constant texts. Tokens, file and helpers are the caller's, and outlive it.
class Module {
 public:
  Module(const Tokens& tokens, const File& file, Helpers& helpers, bool has_yield_checks)
      : tokens_(tokens), file_(file), helpers_(helpers), has_yield_checks_(has_yield_checks), text_(helpers.header()) {}

  const Tokens& tokens() const { return tokens_; }
  const File& file() const { return file_; }
  Helpers& helpers() const { return helpers_; }
  bool has_yield_checks() const { return has_yield_checks_; }
  std::string& text() { return text_; }

  // The LLVM type of a value of the type.
  std::string llvm(const std::string& type) const;
  std::string name_of(const FunctionHead& function) const { return std::string(tokens_.name(function.name)); }
  std::string body_symbol(const FunctionHead& function) const {
    return symbol(helpers_.prefix() + "body." + name_of(function));
  }
  // The type of a result that C code gives or takes, with its extension.
  std::string external_result(const FunctionHead& function) const;
  Signature signature(const FunctionHead& function) const;
  const FunctionHead& callee(const Instruction& one) const {
    return file_.functions[file_.by_name.at(std::string(tokens_.name(one.callee)))];
  }

  // The address of a constant text, as an operand of pointer type.
  std::string string(const std::string& contents);

  void declare(const FunctionHead& function);
  // Writes what was asked for besides the functions.
  void finish(const TakePiece& take);
  // Hands on the text that is written.
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
