// SPDX-License-Identifier: Apache-2.0
// traps.S — the entry points for interrupts, faults and the int instruction that switches threads, always on one of the
// CPU's interrupt stacks. All general registers go into a TrapFrame (trap_frame.h); traps.cpp returns the frame to
// return from.
#include <arch/asm.h>

#define FRAME_VECTOR 120
#define FRAME_IS_FAULT 1                // in the second byte of the vector: janus_fault has still to be called

// Vectors whose exception pushes an error code; the others get a zero, so that all frames are alike.
#define HAS_ERROR(n) (((1 << 8) | (1 << 10) | (1 << 11) | (1 << 12) | (1 << 13) | (1 << 14) | (1 << 17) | (1 << 21) | (1 << 29) | (1 << 30)) >> (n) & 1)

// The vectors that have an entry of their own: the exceptions, our 48 to 50, and 63. All others share the entry of 63.
#define IS_NAMED(n) ((n) < 32 || (n) >= 48 && (n) <= 50 || (n) == 63)

        .section .text.janus_trap, "ax", @progbits
        .macro entry n
janus_trap_\n:
        .if \n < 32 && HAS_ERROR(\n)
        .else
        push    $0
        .endif
        push    $\n
        jmp     janus_trap_common
        .endm

        .altmacro
        .set n, 0
        .rept 64
        .if IS_NAMED(n)
        entry   %n
        .endif
        .set n, n + 1
        .endr

        .hidden janus_trap
        .hidden janus_fault
        .type   janus_trap_common, @function
janus_trap_common:
        push    %rax
        push    %rbx
        push    %rcx
        push    %rdx
        push    %rsi
        push    %rdi
        push    %rbp
        push    %r8
        push    %r9
        push    %r10
        push    %r11
        push    %r12
        push    %r13
        push    %r14
        push    %r15
        cld
        mov     %rsp, %rdi
        call    janus_trap
        mov     %rax, %rsp              // this frame, perhaps now of another thread, or its copy on the fault stack
        testb   $FRAME_IS_FAULT, FRAME_VECTOR + 1(%rsp)
        jz      1f
        mov     %rsp, %rdi
        call    janus_fault             // off the interrupt stack, which the next page fault may use
1:      pop     %r15
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %r11
        pop     %r10
        pop     %r9
        pop     %r8
        pop     %rbp
        pop     %rdi
        pop     %rsi
        pop     %rdx
        pop     %rcx
        pop     %rbx
        pop     %rax
        add     $16, %rsp               // vector and error code
        iretq
        .size   janus_trap_common, . - janus_trap_common

        .section .data.rel.ro.janus_trap_entries, "aw", @progbits
        .globl  janus_trap_entries
        .hidden janus_trap_entries
        .type   janus_trap_entries, @object
        .p2align 3
janus_trap_entries:
        .macro address n
        .quad   janus_trap_\n
        .endm
        .set n, 0
        .rept 64
        .if IS_NAMED(n)
        address %n
        .else
        address 63
        .endif
        .set n, n + 1
        .endr
        .size   janus_trap_entries, . - janus_trap_entries
