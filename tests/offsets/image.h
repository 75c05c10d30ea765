// SPDX-License-Identifier: Apache-2.0
// image.h — a linked program as it lies in its file: the bytes at an address and the functions of its symbol table.
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
  // Ends the process with a message when `path` is no x86-64 ELF program with a symbol table.
  explicit Image(const std::string& path);

  // From `address` to the end of the executable section around it; empty when there is none.
  [[nodiscard]] std::span<const std::uint8_t> code_at(std::uint64_t address) const;
  // Every function symbol with a size, by address.
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }
  // Whether threads have variables of their own in it.
  [[nodiscard]] bool has_thread_local_storage() const { return has_thread_local_storage_; }
  // Ends the process with a message when there is no such function.
  [[nodiscard]] const Function& function(const std::string& name) const;

 private:
  struct Code {
    std::uint64_t address;
    std::span<const std::uint8_t> bytes;
  };
  std::vector<std::uint8_t> file_;
  std::vector<Code> code_;
  std::vector<Function> functions_;
  bool has_thread_local_storage_ = false;
};

}  // namespace witness
