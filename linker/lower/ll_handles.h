// SPDX-License-Identifier: Apache-2.0
// ll_handles.h — of which task a join is: a handle is followed to where it was made.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "ll_rewrite.h"

namespace janus::lower {

// What a task's handle is known to be, from where it was made.
struct HandleKind {
  Handle handle;
  std::string result;
};

class HandleKinds {
 public:
  explicit HandleKinds(FunctionRewrite& rewrite) : rewrite_(rewrite) {}

  // What the operand was made as, followed through phi, select and freeze; nothing where that is not told. Reports what cannot
  // be a handle.
  std::optional<HandleKind> kind_of(const Operand& operand);

 private:
  bool meet(const std::optional<HandleKind>& made, std::optional<HandleKind>& kind, const Operand& operand);
  std::optional<HandleKind> kind_made_by(const Instruction& definition, Opcode opcode) const;

  FunctionRewrite& rewrite_;
  std::map<std::string, HandleKind> known_;  // of handles that were joined
};

}  // namespace janus::lower
