// SPDX-License-Identifier: Apache-2.0
// qtjir_plain.h — the plain instructions: they compute or print values, and continue with the next instruction.
#pragma once

#include "qtjir_text.h"

namespace janus::lower::qtjir {

void write_copy(FunctionText& text, const Instruction& one);
void write_arithmetic(FunctionText& text, const Instruction& one);
void write_comparison(FunctionText& text, const Instruction& one);
void write_conversion(FunctionText& text, const Instruction& one);
void write_print(FunctionText& text, const Instruction& one);

}  // namespace janus::lower::qtjir
