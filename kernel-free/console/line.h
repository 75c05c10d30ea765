// SPDX-License-Identifier: Apache-2.0
// line.h — a line of text, assembled in a buffer and printed in one piece.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel-free/console/console.h"

namespace janus::bare {

class Line {
 public:
  Line() noexcept {}  // bytes_ is not cleared: nothing beyond count_ is read

  Line& text(const char* string) noexcept {
    while (*string != '\0') put(*string++);
    return *this;
  }
  Line& number(std::uint64_t value) noexcept { return digits(value, 10); }
  Line& hex(std::uint64_t value) noexcept { return text("0x").digits(value, 16); }
  // Prints the line and a newline on the console.
  void print() noexcept {
    end();
    bare::print(bytes_, count_);
  }
  void print_at_last(std::uint16_t port) noexcept {
    end();
    bare::print_at_last(port, bytes_, count_);
  }

 private:
  void put(char c) noexcept {
    if (count_ < sizeof bytes_ - 1) bytes_[count_++] = c;
  }
  void end() noexcept { bytes_[count_++] = '\n'; }
  Line& digits(std::uint64_t value, unsigned base) noexcept {
    char reversed[20];
    unsigned count = 0;
    do reversed[count++] = "0123456789abcdef"[value % base];
    while ((value /= base) != 0);
    while (count != 0) put(reversed[--count]);
    return *this;
  }
  std::size_t count_ = 0;
  char bytes_[200];
};

}  // namespace janus::bare
