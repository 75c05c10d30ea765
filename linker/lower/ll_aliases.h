// SPDX-License-Identifier: Apache-2.0
// ll_aliases.h — the aliases and ifuncs of a module, and how each is called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ll_module.h"

namespace janus::lower {

class Aliases {
 public:
  explicit Aliases(const Tokens& tokens) : tokens_(tokens) {}

  // Reads an alias such as `alias i64 (i64), ptr @f`, or an ifunc. `name` is the token of its name, `at` that of the
  // word `alias` or `ifunc`. Returns the token behind what it has read.
  std::size_t add(std::size_t name, std::size_t at);
  // Once all functions are known: adds what has been read to the module.
  void resolve(Module& module);

 private:
  struct Alias {
    std::uint32_t name, type;  // tokens
    bool is_alias;             // not an ifunc
  };

  void resolve(const Alias& alias, Module& module);
  std::string_view function_of(std::string_view name);
  std::optional<std::size_t> behind_casts(std::size_t i) const;

  const Tokens& tokens_;
  std::vector<Alias> aliases_;
  std::unordered_map<std::string_view, std::string_view> target_of_;
};

}  // namespace janus::lower
