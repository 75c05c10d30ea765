// SPDX-License-Identifier: Apache-2.0
// image.h — a linked program as a file: the bytes at an address, and the functions and variables of the symbol table.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace witness {

struct Function {
  std::string name;
  std::uint64_t address;
  std::uint64_t size;
};

class Image {
 public:
  // Ends the process with a message if `path` is not an x86-64 ELF program with a symbol table.
  explicit Image(const std::string& path);

  // The bytes from `address` to the end of its executable section; empty if it is in none.
  [[nodiscard]] std::span<const std::uint8_t> code_at(std::uint64_t address) const;
  // All function symbols with a size, ordered by address.
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }
  // Whether the program has thread-local variables.
  [[nodiscard]] bool has_thread_local_storage() const { return has_thread_local_storage_; }
  // Ends the process with a message if there is no such function.
  [[nodiscard]] const Function& function(const std::string& name) const;
  // The address of a variable; ends the process with a message if there is no such variable.
  [[nodiscard]] std::uint64_t variable(const std::string& name) const;

 private:
  struct Code {
    std::uint64_t address;
    std::span<const std::uint8_t> bytes;
  };
  std::vector<std::uint8_t> file_;
  std::vector<Code> code_;
  std::vector<Function> functions_;
  std::map<std::string, std::uint64_t> variables_;
  bool has_thread_local_storage_ = false;
};

}  // namespace witness
