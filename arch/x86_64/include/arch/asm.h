// SPDX-License-Identifier: Apache-2.0
// asm.h — macros for all assembly files here: symbol type, size and CFI in one place. Assembler only.
#pragma once

// Our objects need no executable stack; without this note the whole program would get one.
.section .note.GNU-stack, "", @progbits
.text
.cfi_sections .debug_frame  // as everywhere: frames.h

// Each function lives in a section of its own, so that --gc-sections can drop it.
#define FUNC(name)                         \
  .section .text.name, "ax", @progbits;    \
  .globl name;                             \
  .hidden name;                            \
  .type name, @function;                   \
  .p2align 4;                              \
  name:                                    \
  .cfi_startproc

#define END(name) \
  .cfi_endproc;   \
  .size name, . - name

// The next instruction may fault: the thread then resumes at `fix_up`. Makes an entry as user_copy.h describes it;
// `name` is the function that contains the instruction.
#define MAY_FAULT(name, fix_up)                          \
  .pushsection janus_fixups, "ao", @progbits, name;      \
  .p2align 2;                                            \
  .long 771f - .;                                        \
  .long fix_up - .;                                      \
  .popsection;                                           \
  771:

// DWARF's numbers for registers (System V psABI, figure 3.36), for the CFI that has no mnemonic of its own.
#define DWARF_RAX 0
#define DWARF_RDX 1
#define DWARF_RCX 2
#define DWARF_RBX 3
#define DWARF_RSI 4
#define DWARF_RDI 5
#define DWARF_RBP 6
#define DWARF_RSP 7
#define DWARF_R8 8
#define DWARF_R9 9
#define DWARF_R10 10
#define DWARF_R11 11
#define DWARF_R12 12
#define DWARF_R13 13
#define DWARF_R14 14
#define DWARF_R15 15
#define DWARF_RIP 16

// The caller's `reg` is in memory at base + offset (DW_CFA_expression; DW_OP_breg<base>; one-byte SLEB: offset < 64).
#define CFI_SAVED_AT(reg, base, offset) .cfi_escape 0x10, reg, 2, 0x70 + base, offset
// As CFI_SAVED_AT, with a two-byte SLEB: any offset < 8192.
#define CFI_SAVED_FAR(reg, base, offset) .cfi_escape 0x10, reg, 3, 0x70 + base, ((offset) & 127) | 128, (offset) >> 7
