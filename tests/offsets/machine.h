// SPDX-License-Identifier: Apache-2.0
// machine.h — symbolic execution of short functions: what a function does to registers and memory on each of its paths,
// for any input. It knows the instructions that the project's assembly uses, and gives up on any other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/offsets/image.h"

namespace witness {

// symbol + offset; a plain number has no symbol. "rdi" is the value of rdi at the start, "[rdi+8]" that of memory
// there.
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

// What else happened, in order: calls, loads of control words, conditional jumps, instructions without operands.
struct Event {
  std::string what;    // mnemonic: "call", "ldmxcsr", "jnz", "cld", ...
  Value operand;       // the call's target, the control word's address, or the value on which a jump depends
  bool taken = false;  // of a conditional jump
  std::map<std::string, Value> registers;  // their values at the event
};

// One path through a function, up to an instruction that leaves it.
struct Path {
  std::map<std::string, Value> registers;
  std::map<Value, Word> stores;  // by address
  std::vector<Event> events;
  std::string end;      // "ret", "jmp" or "ud2"
  Value target;         // of the ret or jmp
  std::string trouble;  // why the path could not be followed; empty if it could
};

// All paths from `address`. A register that `given` does not name begins with its own name as its value, rsp with "sp".
std::vector<Path> run(const Image& image, std::uint64_t address, const std::map<std::string, Value>& given = {});

}  // namespace witness
