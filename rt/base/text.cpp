// SPDX-License-Identifier: Apache-2.0
// rt/base/text.cpp — TextWriter (rt/base/format.h).
#include "rt/base/format.h"

namespace janus {

TextWriter& TextWriter::append(const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  vappend(format, arguments);
  va_end(arguments);
  return *this;
}

void TextWriter::vappend(const char* format, va_list arguments) noexcept {
  const std::size_t wanted = vformat(bytes_ + size_, room(), {.text = room()}, format, arguments).size;
  is_cut_ = is_cut_ || wanted >= room();
  size_ += wanted < room() ? wanted : room() - 1;
}

TextWriter& TextWriter::append_escaped(const char* text, std::size_t most) noexcept {
  for (std::size_t shown = 0; *text != '\0'; ++text) {
    const auto byte = static_cast<unsigned char>(*text);
    const bool is_printable = byte >= ' ' && byte <= '~';
    shown += is_printable ? 1 : 4;
    if (shown > most) return append("...");
    append(is_printable ? "%c" : "\\x%02x", byte);
  }
  return *this;
}

TextWriter& TextWriter::end_line() noexcept {
  if (room() == 1) --size_;
  return append("\n");
}

void TextWriter::clear() noexcept {
  size_ = 0;
  is_cut_ = false;
  bytes_[0] = '\0';
}

void TextWriter::take(const TextWriter& other) noexcept {
  clear();
  append("%s", other.bytes_);
  is_cut_ = other.is_cut_;
}

}  // namespace janus
