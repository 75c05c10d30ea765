// SPDX-License-Identifier: Apache-2.0
// command_line.h — splits the loader's command line into main's arguments. The words are the program's arguments, its
// name first. Words that begin with JANUS_ and contain '=', before the first other word, are its environment. Words at
// the end that begin with `virtio_mmio.device=` come from the loader and give the places of devices.
// "..." keeps spaces in a word; \ makes the next character an ordinary one, inside quotes and outside. Pure text
// processing: unit tests call it.
#pragma once

#include <cstddef>

namespace janus::bare {

struct Words {
  int argc;
  char** argv;  // ends with nullptr, as does envp
  char** envp;
  char** devices;  // the text behind each device word's '='; ends with nullptr, too
};

// The most pointers that parse_command_line() writes for a line of `bytes` bytes.
[[nodiscard]] constexpr std::size_t pointers_for(std::size_t bytes) noexcept {
  return bytes / 2 + 5;
}

// Splits the line, which ends with a zero byte, in place, and writes pointers_for() pointers at most to `pointers`.
// argv[0] is never missing.
[[nodiscard]] Words parse_command_line(char* line, char** pointers) noexcept;

}  // namespace janus::bare
