// SPDX-License-Identifier: Apache-2.0
// arch/linux/files/text.cpp — see text.h.
#include "arch/linux/files/text.h"

namespace janus::kernel {

Text text_of(const char* string) noexcept {
  Text text{string, 0};
  while (string[text.bytes] != '\0') ++text.bytes;
  return text;
}

bool equal(Text a, Text b) noexcept {
  return a.bytes == b.bytes && begins_with(a, b);
}

bool begins_with(Text text, Text prefix) noexcept {
  if (prefix.bytes > text.bytes) return false;
  for (std::size_t i = 0; i < prefix.bytes; ++i)
    if (text[i] != prefix[i]) return false;
  return true;
}

Text cut(Text& rest, char separator) noexcept {
  std::size_t end = 0;
  while (end < rest.bytes && rest[end] != separator) ++end;
  const Text head = rest.upto(end);
  rest = rest.from(end < rest.bytes ? end + 1 : end);
  return head;
}

bool lists(Text list, Text name) noexcept {
  while (!list.is_empty())
    if (equal(cut(list, ','), name)) return true;
  return false;
}

Text trimmed(Text text) noexcept {
  while (!text.is_empty() && (text[text.bytes - 1] == '\n' || text[text.bytes - 1] == ' ')) --text.bytes;
  return text;
}

bool parse_number(Text text, std::uint64_t& out) noexcept {
  text = trimmed(text);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < text.bytes; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value)) return false;
    if (__builtin_add_overflow(value, static_cast<std::uint64_t>(text[i] - '0'), &value)) return false;
  }
  if (text.is_empty()) return false;
  out = value;
  return true;
}

}  // namespace janus::kernel
