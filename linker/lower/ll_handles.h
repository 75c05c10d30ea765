// SPDX-License-Identifier: Apache-2.0
// ll_handles.h — finds out which task a join waits for, by following the handle to the instruction that made it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ll_rewrite.h"
#include "ll_slots.h"

namespace janus::lower {

// What is known of a task's handle from the instruction that made it.
struct HandleKind {
  Handle handle;
  std::string result;
};

class HandleKinds {
 public:
  explicit HandleKinds(FunctionRewrite& rewrite) : rewrite_(rewrite) {}

  struct Answer {
    bool is_handle;
    std::optional<HandleKind> kind;  // of the tasks that this function makes; nothing: not known
    bool is_told;                    // there is a kind, and the handle comes from nowhere else
  };
  // The kind of the handle that the operand holds, followed through phi, select, freeze and variables. Reports an
  // operand that cannot be a handle.
  Answer kind_of(const Operand& operand);
  // Whether an operand of unknown kind is known to be an asynchronous call's handle on some path.
  bool may_be_async(const Operand& operand);

 private:
  struct Found {
    std::optional<HandleKind> kind;
    std::string error;         // why the operand is not a handle, or empty
    bool is_variable = false;  // loaded from a variable, in which other handles may be stored at other times
    bool is_mixed = false;     // handles of several kinds are stored in a variable: the kind is not known
    bool has_others = false;   // it may come from elsewhere: a parameter, a call, memory
    bool has_async = false;    // the handle of an asynchronous call is among them
  };

  const Found& follow(std::uint32_t root);
  Found read(std::uint32_t value, std::vector<std::uint32_t>& sources);
  void read_source(std::string_view value, std::vector<std::uint32_t>& sources, Found& found);
  static void meet(const Found& other, Found& found);
  static bool are_same(const HandleKind& a, const HandleKind& b) {
    return a.handle == b.handle && a.result == b.result;
  }
  const Slots& slots();
  std::optional<HandleKind> kind_made_by(const Instruction& definition, Opcode opcode) const;
  std::uint32_t index_of(const Instruction& definition) const {
    return static_cast<std::uint32_t>(&definition - rewrite_.function.instructions.data());
  }

  FunctionRewrite& rewrite_;
  std::optional<Slots> slots_;                      // made at the first load
  std::unordered_map<std::uint32_t, Found> known_;  // the answers for results of instructions
  // of the results that are not yet known: the order in which they were entered
  std::unordered_map<std::uint32_t, std::uint32_t> order_;
};

}  // namespace janus::lower
