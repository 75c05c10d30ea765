// SPDX-License-Identifier: Apache-2.0
// command_line.h — from the one line that a loader passes to what main expects. The words are the program's arguments,
// its name first. Words that begin with JANUS_ and contain '=', before the first other word, are its environment.
// Words at the end that begin with `virtio_mmio.device=` are the loader's and say where devices are.
// "..." keeps spaces in a word, \ the character behind it, inside quotes and outside. Plain text; tests feed it.
#pragma once

#include <cstddef>

namespace janus::bare {

struct Words {
  int argc;
  char** argv;  // ends with nullptr, as does envp
  char** envp;
  char** devices;  // of each such word what follows the sign of equality; ends with nullptr, too
};

// How many pointers parse_command_line() may write for a line of so many bytes.
[[nodiscard]] constexpr std::size_t pointers_for(std::size_t bytes) noexcept {
  return bytes / 2 + 5;
}

// Takes the line, which ends with a zero byte, to pieces where it stands. argv[0] is never missing.
[[nodiscard]] Words parse_command_line(char* line, char** pointers) noexcept;

// Those of the line that the machine was started with (boot.cpp).
[[nodiscard]] const char* const* device_words() noexcept;

}  // namespace janus::bare
