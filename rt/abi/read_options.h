// SPDX-License-Identifier: Apache-2.0
// rt/abi/read_options.h — reads the structures with options that users pass.
#pragma once

#include "rt/abi/entry/entry.h"
#include "rt/task/account/name.h"

namespace janus {

constexpr int invalid(Why argument) noexcept {
  return with_why(JANUS_E_INVALID, argument);
}

// Reads the options once, as far as they go and are known. `first`: the size that version 1 began with. 0, or the error.
template <typename Options>
int read_options(const Options* from, Options& options, std::uint32_t first = sizeof(Options)) noexcept {
  static_assert(offsetof(Options, size) == 0 && sizeof options.size == sizeof(std::uint32_t));
  std::uint32_t size;
  read_user_bytes(&size, from, sizeof size);  // alone, since memory may end behind a short structure
  if (size != 0 && size < first) return invalid(Why::kSize);
  const std::size_t given = size != 0 ? size : first;
  options = {};
  read_user_bytes(&options, from, given < sizeof options ? given : sizeof options);
  return 0;
}

// nullptr: there is no name.
inline const char* read_name(const char* from, char (&name)[kNameBytes]) noexcept {
  if (from == nullptr) return nullptr;
  (void)read_user_string(name, sizeof name, from);
  return name;
}

}  // namespace janus
