// SPDX-License-Identifier: Apache-2.0
// ll_types.h — the types of the values in a function of LLVM IR, where its instructions state them directly.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ll_module.h"

namespace janus::lower {

class LocalTypes {
 public:
  LocalTypes(const Tokens& tokens, const Function& function);

  // The type of the value `%name` (written with its sigil). Nothing if it is not known.
  std::optional<std::string> type_of(std::string_view written) const;
  // The instruction whose result the value is; nullptr for parameters and unknown names.
  const Instruction* definition(std::string_view written) const;
  bool is_parameter(std::string_view written) const;
  // Whether it is a name of a value that the function does not have. Numbers are left to LLVM.
  bool is_unknown(std::string_view written) const;

 private:
  std::optional<std::string> result_type(const Instruction& instruction) const;

  const Tokens& tokens_;
  const Function& function_;
  std::unordered_map<std::string, std::uint32_t> definitions_;  // by name
  std::unordered_map<std::string, std::uint32_t> parameters_;
};

}  // namespace janus::lower
