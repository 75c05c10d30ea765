// SPDX-License-Identifier: Apache-2.0
// arch/linux/files/text.h — just enough text handling for the kernel's small files. Reads no files: tests feed it
// text.
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus::kernel {

// A piece of text in memory that is owned elsewhere.
struct Text {
  const char* start = nullptr;
  std::size_t bytes = 0;

  [[nodiscard]] bool is_empty() const { return bytes == 0; }
  [[nodiscard]] char operator[](std::size_t i) const { return start[i]; }
  [[nodiscard]] Text from(std::size_t i) const { return {start + i, bytes - i}; }
  [[nodiscard]] Text upto(std::size_t i) const { return {start, i}; }
};

// The text of a string that ends with a zero byte.
[[nodiscard]] Text text_of(const char* string) noexcept;

[[nodiscard]] bool equal(Text a, Text b) noexcept;
[[nodiscard]] bool begins_with(Text text, Text prefix) noexcept;

// Removes and returns the part of `rest` before the first `separator`, which it drops; all of `rest` if there is none.
[[nodiscard]] Text cut(Text& rest, char separator) noexcept;

// True if `name` is one of the entries of `list`, which commas separate.
[[nodiscard]] bool lists(Text list, Text name) noexcept;

// Parses a decimal number, with only blanks and newlines behind it. False for other text; `out` is then unchanged.
[[nodiscard]] bool parse_number(Text text, std::uint64_t& out) noexcept;

// The text without a trailing newline and blanks.
[[nodiscard]] Text trimmed(Text text) noexcept;

}  // namespace janus::kernel
