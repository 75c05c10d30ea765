// SPDX-License-Identifier: Apache-2.0
// probe.S — see probe.h. Offsets here are those of Registers (six words) and Entry, in order.
#include <arch/asm.h>

#define PUSH_CALLEE_SAVED  push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15
#define POP_CALLEE_SAVED   pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx

.macro LOAD_REGISTERS at
    mov     0(\at), %rbx
    mov     8(\at), %rbp
    mov     16(\at), %r12
    mov     24(\at), %r13
    mov     32(\at), %r14
    mov     40(\at), %r15
.endm

.macro STORE_REGISTERS at
    mov     %rbx, 0(\at)
    mov     %rbp, 8(\at)
    mov     %r12, 16(\at)
    mov     %r13, 24(\at)
    mov     %r14, 32(\at)
    mov     %r15, 40(\at)
.endm

.macro STORE_ENTRY at
    mov     %rsp, 0(\at)
    mov     %rbp, 8(\at)
    pushf
    pop     16(\at)
    mov     %rdi, 24(\at)
    stmxcsr 32(\at)
    fnstcw  36(\at)
.endm

FUNC(probe_switch)
    PUSH_CALLEE_SAVED
    push    %rcx                        // after
    LOAD_REGISTERS %rdx
    call    janus_context_switch
    pop     %rcx
    STORE_REGISTERS %rcx
    POP_CALLEE_SAVED
    ret
END(probe_switch)

FUNC(probe_task_call)
    PUSH_CALLEE_SAVED
    push    %r8                         // after
    LOAD_REGISTERS %rcx
    call    janus_task_call
    pop     %r8
    STORE_REGISTERS %r8
    POP_CALLEE_SAVED
    ret
END(probe_task_call)

FUNC(probe_entry)
    STORE_ENTRY %rdi
    mov     40(%rdi), %rax
    ret
END(probe_entry)

FUNC(probe_finished)
    lea     probe_finished_entry(%rip), %rcx
    STORE_ENTRY %rcx
    jmp     *probe_finished_next(%rip)
END(probe_finished)

FUNC(probe_wreck_registers)
    mov     %rdi, %rax
    mov     %rsi, %rdi
    mov     $0xdead, %ebx
    mov     %rbx, %rbp
    mov     %rbx, %r12
    mov     %rbx, %r13
    mov     %rbx, %r14
    mov     %rbx, %r15
    sub     $8, %rsp
    std
    call    *%rax
    ud2
END(probe_wreck_registers)
