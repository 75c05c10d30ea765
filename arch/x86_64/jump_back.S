// SPDX-License-Identifier: Apache-2.0
// jump_back.S — a call that returns by a jump. System V x86-64. Contract: jump_back.h.
#include <arch/asm.h>

// int janus_jump_back(a, b, c, d, e, int (*fn)(a, b, c, d, e))      rdi, rsi, rdx, rcx, r8, r9
FUNC(janus_jump_back)
    sub     $8, %rsp                            // fn starts with the stack as a call leaves it
    .cfi_adjust_cfa_offset 8
    call    *%r9
    add     $8, %rsp
    .cfi_adjust_cfa_offset -8
    pop     %rcx
    .cfi_adjust_cfa_offset -8
    .cfi_register DWARF_RIP, DWARF_RCX
    jmp     *%rcx
    .org    janus_jump_back + 14                // kJumpBackBytes: an error if there is more code
END(janus_jump_back)
