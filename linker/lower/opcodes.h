// SPDX-License-Identifier: Apache-2.0
// opcodes.h — the operations of the runtime (Spawn, Await, Yield, ...) that are lowered as instructions. LLVM IR and
// .qtjir have the same names for them.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace janus::lower {

enum class Opcode {
  kBudgetCheck,
  kBudgetDecrement,
  kYield,
  kTaskCreate,  // a task in the innermost nursery, with its own budget if one is given
  kSpawn,       // a task in the innermost nursery
  kFork,        // a task in the innermost nursery; outside all nurseries, in a nursery of the function for such tasks
  kAsyncCall,   // a task, and a channel for its result
  kTaskJoin,
  kAwait,  // waits for a task, an asynchronous call or a nursery
  kNurseryBegin,
  kNurseryEnd,
  kNurseryCancel,
  kSleep,
};

constexpr std::array<std::pair<std::string_view, Opcode>, 16> kOpcodes = {{
    {"Budget_Check", Opcode::kBudgetCheck},
    {"Budget_Decrement", Opcode::kBudgetDecrement},
    {"Yield", Opcode::kYield},
    {"Task_Create", Opcode::kTaskCreate},
    {"Task_Join", Opcode::kTaskJoin},
    {"Nursery_Begin", Opcode::kNurseryBegin},
    {"Nursery_End", Opcode::kNurseryEnd},
    {"Nursery_Cancel", Opcode::kNurseryCancel},
    {"Spawn", Opcode::kSpawn},
    {"Await", Opcode::kAwait},
    {"Async_Call", Opcode::kAsyncCall},
    {"SPAWN", Opcode::kFork},
    {"AWAIT", Opcode::kAwait},
    {"fork", Opcode::kFork},
    {"await", Opcode::kAwait},
    {"sleep", Opcode::kSleep},
}};

constexpr std::optional<Opcode> opcode_of(std::string_view word) {
  for (const auto& [name, opcode] : kOpcodes)
    if (name == word) return opcode;
  return std::nullopt;
}
constexpr bool is_opcode(std::string_view word) {
  return opcode_of(word).has_value();
}

// The opcode that a word is but for upper and lower case; empty if there is none, or if the word is one.
constexpr std::string_view opcode_meant_by(std::string_view word) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::string_view meant;
  for (const auto& [name, opcode] : kOpcodes) {
    if (name == word) return {};
    std::size_t same = 0;
    while (name.size() == word.size() && same < name.size() && lower(name[same]) == lower(word[same])) ++same;
    if (same == name.size() && meant.empty()) meant = name;
  }
  return meant;
}

constexpr bool makes_task(Opcode opcode) {
  return opcode == Opcode::kTaskCreate || opcode == Opcode::kSpawn || opcode == Opcode::kFork ||
         opcode == Opcode::kAsyncCall;
}

}  // namespace janus::lower
