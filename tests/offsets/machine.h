// SPDX-License-Identifier: Apache-2.0
// machine.h — runs a few instructions with symbols for numbers: what a function does to registers and memory on each
// of its paths, whatever it is given. Knows the instructions that our assembly uses, and gives up on any other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/offsets/image.h"

namespace witness {

// symbol + offset; a plain number has no symbol. "rdi" is what rdi held at the start, "[rdi+8]" what memory held there.
struct Value {
  std::string symbol;
  std::int64_t offset = 0;
  friend bool operator==(const Value&, const Value&) = default;
  friend auto operator<=>(const Value&, const Value&) = default;
  [[nodiscard]] std::string text() const;
};

struct Word {
  Value value;
  unsigned bytes;
  friend bool operator==(const Word&, const Word&) = default;
};

// What else happened, in order: a call, a load of a control word, a conditional jump, an instruction without operands.
struct Event {
  std::string what;                        // mnemonic: "call", "ldmxcsr", "jnz", "cld", ...
  Value operand;                           // the call's target, the control word's address, what a jump depends on
  bool taken = false;                      // of a conditional jump
  std::map<std::string, Value> registers;  // as they were then
};

// One way through a function, to an instruction that leaves it.
struct Path {
  std::map<std::string, Value> registers;
  std::map<Value, Word> stores;  // by address
  std::vector<Event> events;
  std::string end;      // "ret", "jmp" or "ud2"
  Value target;         // of the ret or jmp
  std::string trouble;  // why the path could not be followed, or empty
};

// All paths from `address`. Registers that `given` does not name begin as their own names, rsp as "sp".
std::vector<Path> run(const Image& image, std::uint64_t address, const std::map<std::string, Value>& given = {});

}  // namespace witness
