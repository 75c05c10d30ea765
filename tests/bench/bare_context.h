// SPDX-License-Identifier: Apache-2.0
// bare_context.h — the context switch as a C program sees it, to count and measure it alone.
#pragma once

#include <stdint.h>

// The frozen layout: sp, the callee-saved registers, mxcsr and the x87 control word.
typedef struct {
  uint64_t sp, registers[6];
  uint32_t mxcsr;
  uint16_t fcw, reserved;
} context;
void janus_context_switch(context* from, const context* to);
