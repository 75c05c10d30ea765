// SPDX-License-Identifier: Apache-2.0
// decode.cpp — the Zydis decoder, set up once.
#include "tests/offsets/decode.h"

namespace witness {

bool decode(std::span<const std::uint8_t> bytes, std::uint64_t address, Instruction& out) {
  static const ZydisDecoder decoder = [] {
    ZydisDecoder made;
    ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return made;
  }();
  out.address = address;
  return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(), &out.code, out.operands));
}

std::string full_register(ZydisRegister reg) {
  return ZydisRegisterGetString(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg));
}

std::string Instruction::text() const {
  static const ZydisFormatter formatter = [] {
    ZydisFormatter made;
    ZydisFormatterInit(&made, ZYDIS_FORMATTER_STYLE_ATT);
    return made;
  }();
  char buffer[160];
  ZydisFormatterFormatInstruction(&formatter, &code, operands, code.operand_count_visible, buffer, sizeof buffer,
                                  address, ZYAN_NULL);
  return buffer;
}

}  // namespace witness
