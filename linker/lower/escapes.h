// SPDX-License-Identifier: Apache-2.0
// escapes.h — the byte that \XX stands for, in names of LLVM IR and in texts of .qtjir.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace janus::lower {

// The byte that the first two characters give as hexadecimal digits; nothing if they are no such digits.
inline std::optional<char> byte_of_hex(std::string_view text) {
  unsigned char byte = 0;
  const std::string_view digits = text.substr(0, 2);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
  if (error != std::errc() || digits.size() != 2 || end != digits.data() + 2) return std::nullopt;
  return static_cast<char>(byte);
}

}  // namespace janus::lower
