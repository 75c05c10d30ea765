// SPDX-License-Identifier: Apache-2.0
// ll_module.h — what is read from a module of textual LLVM IR: its functions, their blocks and instructions. Positions
// are token indices. Parts of the module that have no place here are copied to the output unchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lexer.h"

namespace janus::lower {

// The type of a function, with what of its ABI a caller has to repeat.
struct Parameter {
  std::string type;
  std::string extension;  // the words of zeroext, signext, inreg and nest that it has
  std::string refused;    // an attribute that makes the argument more than a value: byval, sret, ...
};
struct Signature {
  std::string convention;  // fastcc, spir_func, cc 10, ..., or nothing
  std::string target;      // attributes of functions that decide on its ABI: "target-features"="+avx2", ...
  std::string result;
  std::vector<Parameter> parameters;
  bool is_variadic = false;
};
// What a name of a function stands for.
struct Callable {
  std::string symbol;                    // with its sigil, as written
  std::shared_ptr<Signature> signature;  // aliases share their function's
  bool is_unknown_alias = false;         // its function is not known, or of other types: nothing tells how to call it
};

constexpr std::uint32_t kNoIndex = UINT32_MAX;

struct Instruction {
  std::uint32_t first;     // token; that of its result's name if it has one
  std::uint32_t mnemonic;  // token; `call` behind `tail`
  std::uint32_t end;       // behind its last token
  bool has_result;
};

struct Block {
  std::uint32_t label;  // token, or kNoIndex where the label is implicit
  std::uint32_t first;  // instruction
  std::uint32_t end;
  std::vector<std::uint32_t> successors;  // blocks; kNoIndex for a label that is not known
};

struct Function {
  Signature signature;
  std::uint32_t name;                          // token
  std::uint32_t behind_parameters;             // token: where function attributes stand
  std::uint32_t body;                          // token of its `{`
  std::vector<std::uint32_t> parameter_names;  // tokens, kNoIndex where there is none
  std::vector<Instruction> instructions;
  std::vector<Block> blocks;
  bool is_naked = false;
  bool is_coroutine = false;  // one that is not split: its locals are in its frame, which may be gone where it returns
};

struct Module {
  std::vector<Function> functions;
  std::unordered_map<std::string_view, Callable> callables;  // by name: definitions, declarations and aliases
  std::unordered_set<std::string_view> definitions;          // names of functions and aliases that the module defines
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      profiles;  // top-level lines: tokens of `profile` and of the name
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      summaries;  // entries for ThinLTO: first token, and behind the last
};

Module parse_module(const Tokens& tokens);

}  // namespace janus::lower
