// SPDX-License-Identifier: Apache-2.0
// selectors.h — the segments that a processor in 64-bit mode still needs. For C++ and for the assembler.
#pragma once

#define SELECTOR_CODE 0x08
#define SELECTOR_TASK 0x10                  // takes two entries
#define DESCRIPTOR_CODE 0x00209b0000000000  // 64-bit, present, executable, already accessed
