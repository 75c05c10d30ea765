// SPDX-License-Identifier: Apache-2.0
// ll_slots.h — the variables of a function that nothing but its own loads and stores reaches, as clang -O0 has one for each
// local variable: what is loaded from one was stored to it in this function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ll_module.h"

namespace janus::lower {

class Slots {
 public:
  Slots(const Tokens& tokens, const Function& function);

  // The tokens of all values that are stored to where the load reads from; nullptr if that is no such variable, or holds
  // something else than i64s.
  const std::vector<std::uint32_t>* stored_to_source_of(const Instruction& load) const;

 private:
  struct Slot {
    bool is_private = true;
    std::vector<std::uint32_t> stored;  // tokens
  };
  // An i64 that is loaded or stored: the token of the value, for a store, and of the address.
  struct Access {
    std::size_t value, address;
  };

  void read(const Instruction& one);
  std::optional<Access> access(const Instruction& one) const;
  bool only_describes(const Instruction& one) const;

  const Tokens& tokens_;
  std::unordered_map<std::string_view, Slot> slots_;  // by the name of the alloca
};

}  // namespace janus::lower
