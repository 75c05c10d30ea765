// SPDX-License-Identifier: Apache-2.0
// signal_return.S — the return address of signal handlers. The kernel has put its SignalFrame at rsp, from where
// rt_sigreturn takes it. Debuggers recognise a signal frame by these two instructions if their function has the C
// library's name; under any name they unwind by the CFI, which locates the registers in the frame. The byte ahead is a
// nop, because unwinders look up the address before the return address.
#include <arch/asm.h>

// The offset of the first general register in the frame (r8), behind its flags, link and description of the alternate
// stack.
#define REGISTERS 40
#define SAVED(reg, index) CFI_SAVED_FAR(reg, DWARF_RSP, REGISTERS + 8 * (index))

        .section .text.janus_signal_return, "ax", @progbits
        .cfi_startproc
        .cfi_signal_frame
        .cfi_escape 0x0f, 4, 0x70 + DWARF_RSP, ((REGISTERS + 8 * 15) & 127) | 128, (REGISTERS + 8 * 15) >> 7, 0x06  // CFA: its rsp
        SAVED(DWARF_R8, 0)
        SAVED(DWARF_R9, 1)
        SAVED(DWARF_R10, 2)
        SAVED(DWARF_R11, 3)
        SAVED(DWARF_R12, 4)
        SAVED(DWARF_R13, 5)
        SAVED(DWARF_R14, 6)
        SAVED(DWARF_R15, 7)
        SAVED(DWARF_RDI, 8)
        SAVED(DWARF_RSI, 9)
        SAVED(DWARF_RBP, 10)
        SAVED(DWARF_RBX, 11)
        SAVED(DWARF_RDX, 12)
        SAVED(DWARF_RAX, 13)
        SAVED(DWARF_RCX, 14)
        SAVED(DWARF_RIP, 16)
        nop
        .globl  janus_signal_return
        .hidden janus_signal_return
        .type   janus_signal_return, @function
janus_signal_return:
        mov     $15, %rax               // rt_sigreturn
        syscall
        .cfi_endproc
        .size   janus_signal_return, . - janus_signal_return
