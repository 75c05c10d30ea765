// SPDX-License-Identifier: Apache-2.0
// qtjir_ast.h — a .qtjir file as parsed, with the results of qtjir_check.cpp. The heads of all functions are read
// first. Then each body is read, checked and emitted before the next one, so only one body is in memory at a time. A
// type is represented by its text: i64, ptr, `task i64`, `async i64`, `channel i64`, nursery, void.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "helpers.h"
#include "lexer.h"
#include "nursery_flow.h"
#include "opcodes.h"

namespace janus::lower::qtjir {

enum class Kind : std::uint8_t {
  kCopy,
  kArithmetic,  // `word` says which
  kComparison,
  kConversion,
  kCall,
  kPrint,
  kBranch,
  kJump,
  kReturn,
  kDefer,
  kChannelCreate,
  kSend,
  kRecv,
  kClose,
  kOpcode,
};

struct Operand {
  enum class Kind : std::uint8_t { kRegister, kInteger, kString };
  Kind kind = Kind::kInteger;
  std::uint32_t token = 0;
  std::uint32_t register_number = 0;  // filled in by the check
  std::string type;                   // filled in by the check
};

struct Instruction {
  Kind kind = Kind::kCopy;
  std::uint32_t token = kNoIndex;  // for messages
  Opcode opcode = Opcode::kYield;
  std::string word;
  std::uint32_t result = kNoIndex;         // token of the register's name
  std::uint32_t result_number = kNoIndex;  // filled in by the check: its register
  std::string type;                        // written, or filled in: what is computed or made
  std::uint32_t callee = kNoIndex;         // token
  std::vector<Operand> operands;
  std::vector<std::uint32_t> labels;  // tokens
  std::uint32_t first_successor = 0;  // filled in by the check: index of its first label in the successors of its block
  std::vector<std::optional<Operand>> budget;  // empty, or five components; one that is absent is 0
  std::array<bool, 5> has_all{};               // components that are `all`
  NurseryOptions nursery;
  const FlowEvent* event = nullptr;  // filled in by the check
};

struct Block {
  std::uint32_t label = kNoIndex;  // token
  std::vector<Instruction> instructions;
  std::vector<std::uint32_t> successors;  // filled in by the check
};

struct Register {
  std::string name, type;
};

struct FunctionHead {
  std::uint32_t name = kNoIndex;               // token
  std::vector<std::uint32_t> parameter_names;  // tokens
  std::vector<std::string> parameters;         // types
  std::string result = "void";
  bool is_external = false, is_variadic = false, is_cleanup = false;
  std::uint32_t body = kNoIndex;  // the first token behind its `{`
};

// A function with its body. Only one such object has contents at a time.
struct Function : FunctionHead {
  std::vector<Block> blocks;           // filled in by read_body()
  std::vector<Register> registers;     // filled in by the check, parameters first
  std::vector<FlowBlock> flow_blocks;  // filled in by the check
  std::optional<NurseryFlow> flow;     // filled in by the check
};

struct File {
  std::string profile;
  std::vector<FunctionHead> functions;
  std::unordered_map<std::string, std::uint32_t> by_name;
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kBudgetParts = {
    {{"ops", "i32"}, {"memory", "i64"}, {"spawn_count", "i16"}, {"channel_ops", "i16"}, {"syscalls", "i16"}}};

// Each function reports the errors that it finds.
File read_heads(const Tokens& tokens);
// false: there were errors, and the body must not be checked
[[nodiscard]] bool read_body(const Tokens& tokens, Function& function);
void check(const Tokens& tokens, const File& file, Function& function);

}  // namespace janus::lower::qtjir
