// SPDX-License-Identifier: Apache-2.0
// ll_slots.h — the private variables of a function: allocas that only loads and stores of this function use. clang -O0
// makes one for each local variable. A value that is loaded from such a variable was stored by this function.
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

  // The tokens of all values that are stored to the variable that the load reads. nullptr: the load does not read a
  // private variable, or the variable has values that are not i64.
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
