// SPDX-License-Identifier: Apache-2.0
// qtjir_plain.h — the plain instructions: those that compute or print values, and go on to the next one.
#pragma once

#include "qtjir_text.h"

namespace janus::lower::qtjir {

void write_copy(FunctionText& text, const Instruction& one);
void write_arithmetic(FunctionText& text, const Instruction& one);
void write_comparison(FunctionText& text, const Instruction& one);
void write_conversion(FunctionText& text, const Instruction& one);
void write_print(FunctionText& text, const Instruction& one);

}  // namespace janus::lower::qtjir
