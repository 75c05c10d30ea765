// SPDX-License-Identifier: Apache-2.0
// context_switch.S — leave one fiber, resume another. System V x86-64.
//   void janus_context_switch(Context* from, const Context* to)      rdi, rsi
// Saves and restores rsp, rbx, rbp, r12-r15, mxcsr and the x87 control word as struct Context (context.h).
// Leaves alone caller-saved registers that it does not need (it uses rax, rcx and flags), the signal mask, and fs/gs
// (they belong to the worker). The unwind tables (CFI) hold at every instruction; tests/arch/unwind.py checks that.
#include <arch/asm.h>
#include "arch/x86_64/context_offsets.h"    // generated from context.h: JANUS_CONTEXT_SP, _RBX, ...

// janus_context_switch_jmp: the same, entered by a jump, with the address to go on at in rdx. A call would leave an
// entry on the processor's internal stack of return addresses, by which it predicts rets, and no ret would remove it:
// the next ret, of another function, would be mispredicted.
    .section .text.janus_context_switch, "ax", @progbits
    .p2align 4
    .skip   15, 0x90                            // so that what follows the push is aligned
    .globl  janus_context_switch_jmp
    .hidden janus_context_switch_jmp
    .type   janus_context_switch_jmp, @function
janus_context_switch_jmp:
    .cfi_startproc
    .cfi_def_cfa_offset 0
    .cfi_register DWARF_RIP, DWARF_RDX
    push    %rdx                                // and on into janus_context_switch
END(janus_context_switch_jmp)

FUNC(janus_context_switch)
    mov     %rbx, JANUS_CONTEXT_RBX(%rdi)
    mov     %rbp, JANUS_CONTEXT_RBP(%rdi)
    mov     %r12, JANUS_CONTEXT_R12(%rdi)
    mov     %r13, JANUS_CONTEXT_R13(%rdi)
    mov     %r14, JANUS_CONTEXT_R14(%rdi)
    mov     %r15, JANUS_CONTEXT_R15(%rdi)
    stmxcsr JANUS_CONTEXT_MXCSR(%rdi)
    fnstcw  JANUS_CONTEXT_FCW(%rdi)
    mov     %rsp, JANUS_CONTEXT_SP(%rdi)        // `from` is complete; from here on the CFI finds the registers in it
    CFI_SAVED_AT(DWARF_RBX, DWARF_RDI, JANUS_CONTEXT_RBX)
    CFI_SAVED_AT(DWARF_RBP, DWARF_RDI, JANUS_CONTEXT_RBP)
    CFI_SAVED_AT(DWARF_R12, DWARF_RDI, JANUS_CONTEXT_R12)
    CFI_SAVED_AT(DWARF_R13, DWARF_RDI, JANUS_CONTEXT_R13)
    CFI_SAVED_AT(DWARF_R14, DWARF_RDI, JANUS_CONTEXT_R14)
    CFI_SAVED_AT(DWARF_R15, DWARF_RDI, JANUS_CONTEXT_R15)

    // The control words are nearly always the same on both sides. Some processors load mxcsr quickly, but are slow to
    // read a word that stmxcsr has just stored; on others it is the other way round.
    cmpb    $0, janus_loads_mxcsr_quickly(%rip)
    jnz     .Lload_mxcsr
    mov     JANUS_CONTEXT_MXCSR(%rdi), %eax
    xor     JANUS_CONTEXT_MXCSR(%rsi), %eax
    test    $JANUS_MXCSR_CONTROL_BITS, %eax
    jnz     .Lload_mxcsr
.Lmxcsr_is_right:
    movzwl  JANUS_CONTEXT_FCW(%rdi), %ecx
    cmp     JANUS_CONTEXT_FCW(%rsi), %cx
    jne     .Lload_fcw
.Lfcw_is_right:

    mov     JANUS_CONTEXT_RBX(%rsi), %rbx
    mov     JANUS_CONTEXT_RBP(%rsi), %rbp
    mov     JANUS_CONTEXT_R12(%rsi), %r12
    mov     JANUS_CONTEXT_R13(%rsi), %r13
    mov     JANUS_CONTEXT_R14(%rsi), %r14
    mov     JANUS_CONTEXT_R15(%rsi), %r15
    .cfi_remember_state
    mov     JANUS_CONTEXT_SP(%rsi), %rsp        // now on the other stack, as the function that left `to`
    .cfi_restore DWARF_RBX
    .cfi_restore DWARF_RBP
    .cfi_restore DWARF_R12
    .cfi_restore DWARF_R13
    .cfi_restore DWARF_R14
    .cfi_restore DWARF_R15
    pop     %rcx                                // to where `to` left off, or into janus_fiber_entry
    .cfi_adjust_cfa_offset -8
    .cfi_register DWARF_RIP, DWARF_RCX
    jmp     *%rcx                               // a ret here mispredicts: docs/decisions/0001

.Lload_mxcsr:
    .cfi_restore_state
    ldmxcsr JANUS_CONTEXT_MXCSR(%rsi)
    jmp     .Lmxcsr_is_right

.Lload_fcw:
    fnclex                                      // slow, but if `to` unmasks a flag that `from` has set, it would trap
    fldcw   JANUS_CONTEXT_FCW(%rsi)
    jmp     .Lfcw_is_right
END(janus_context_switch)

// A stack walker looks up the byte before a return address. In a fiber that has not started, the return addresses are
// janus_fiber_entry and, above it, janus_fiber_cleanup. So the bytes before both functions belong to code with a name.
#define BYTES_BEFORE(owner, name)                  \
    .section .text.owner, "ax", @progbits;         \
    .p2align 4;                                    \
    .type   name, @function;                       \
  name:                                            \
    .cfi_startproc

#define END_BYTES_BEFORE(name)                     \
    .skip   16, 0x90;  /* keeps the alignment */   \
    END(name)

BYTES_BEFORE(janus_fiber_entry, janus_fiber_unstarted)
END_BYTES_BEFORE(janus_fiber_unstarted)

// janus_fiber_entry: a fresh fiber begins here, laid out by make_context: r12 entry function, r13 its argument,
// r14 the function to call with its result. Returns into janus_fiber_cleanup, whose address lies on the stack.
FUNC(janus_fiber_entry)
    mov     %r13, %rdi
    call    *%r12
    ret
END(janus_fiber_entry)

BYTES_BEFORE(janus_fiber_cleanup, janus_fiber_bottom)
    .cfi_undefined DWARF_RIP                    // no caller: stack walkers end here
END_BYTES_BEFORE(janus_fiber_bottom)

// janus_fiber_cleanup: passes the result of the entry function to the function in r14, which never returns.
FUNC(janus_fiber_cleanup)
    .cfi_undefined DWARF_RIP
    mov     %rax, %rdi
    sub     $8, %rsp                            // entered as a function is, 8 off a multiple of 16
    .cfi_adjust_cfa_offset 8
    call    *%r14
    ud2
END(janus_fiber_cleanup)
