// SPDX-License-Identifier: Apache-2.0
// decode.h — decodes one instruction with Zydis.
#pragma once

#include <Zydis/Zydis.h>

#include <cstdint>
#include <span>
#include <string>

namespace witness {

struct Instruction {
  std::uint64_t address = 0;
  ZydisDecodedInstruction code{};
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT]{};

  [[nodiscard]] std::uint64_t next() const { return address + code.length; }
  [[nodiscard]] std::string mnemonic() const { return ZydisMnemonicGetString(code.mnemonic); }
  [[nodiscard]] std::span<const ZydisDecodedOperand> visible() const { return {operands, code.operand_count_visible}; }
  // As a disassembler prints it.
  [[nodiscard]] std::string text() const;
};

// False if `bytes` do not begin with a valid instruction.
[[nodiscard]] bool decode(std::span<const std::uint8_t> bytes, std::uint64_t address, Instruction& out);

// The name of the 64-bit register that `reg` is a part of.
[[nodiscard]] std::string full_register(ZydisRegister reg);

}  // namespace witness
