// SPDX-License-Identifier: Apache-2.0
// task_call.S — a call that can be abandoned. System V x86-64; the frame is struct TaskFrame (task_call.h).
#include <arch/asm.h>
#include "arch/x86_64/context_offsets.h"    // generated from task_call.h: JANUS_TASK_FRAME_RBX, ...

// The bytes below the return address; rsp is at their lower end, a multiple of 16, while the task's function runs.
#define FRAME_BYTES JANUS_TASK_FRAME_RETURN_IP
#define CFA_OFFSET(field) JANUS_TASK_FRAME_##field - JANUS_TASK_FRAME_RETURN_IP - 8

// int64_t janus_task_call(int64_t (*fn)(void*), void* arg, uint64_t* frame_sp)      rdi, rsi, rdx
FUNC(janus_task_call)
    sub     $FRAME_BYTES, %rsp
    .cfi_adjust_cfa_offset FRAME_BYTES
    mov     %rbp, JANUS_TASK_FRAME_RBP(%rsp)
    lea     JANUS_TASK_FRAME_RBP(%rsp), %rbp
    .cfi_offset DWARF_RBP, CFA_OFFSET(RBP)
    stmxcsr JANUS_TASK_FRAME_MXCSR(%rsp)
    fnstcw  JANUS_TASK_FRAME_FCW(%rsp)
    mov     %rbx, JANUS_TASK_FRAME_RBX(%rsp)    // the function preserves these; janus_task_abandon needs them
    mov     %r12, JANUS_TASK_FRAME_R12(%rsp)
    mov     %r13, JANUS_TASK_FRAME_R13(%rsp)
    mov     %r14, JANUS_TASK_FRAME_R14(%rsp)
    mov     %r15, JANUS_TASK_FRAME_R15(%rsp)
    mov     %rsp, (%rdx)
    // All of mxcsr, also the sticky flags: a task must not see those of the task that ran before it.
    cmpl    $JANUS_MXCSR_DEFAULT, JANUS_TASK_FRAME_MXCSR(%rsp)
    jne     .Lload_default_mxcsr
.Lmxcsr_is_default:
    cmpw    $JANUS_FCW_DEFAULT, JANUS_TASK_FRAME_FCW(%rsp)
    jne     .Lload_default_fcw
.Lcall:
    mov     %rdi, %rax
    mov     %rsi, %rdi
.Lcall_fn:
    call    *%rax

.Lreturned:                                     // janus_task_abandon joins here
    // A task that leaves another rounding mode must not change the arithmetic of the task that ran it on its own stack.
    // Loading mxcsr costs no more than storing it for a comparison.
    ldmxcsr JANUS_TASK_FRAME_MXCSR(%rsp)
    fnstcw  -4(%rsp)
    movzwl  -4(%rsp), %edx
    cmp     JANUS_TASK_FRAME_FCW(%rsp), %dx
    jne     .Lload_callers_fcw
.Lleave:
    mov     JANUS_TASK_FRAME_RBP(%rsp), %rbp
    .cfi_remember_state
    .cfi_restore DWARF_RBP
    add     $FRAME_BYTES, %rsp
    .cfi_adjust_cfa_offset -FRAME_BYTES
    ret

.Lload_default_mxcsr:
    .cfi_restore_state
    movl    $JANUS_MXCSR_DEFAULT, -8(%rsp)
    ldmxcsr -8(%rsp)
    jmp     .Lmxcsr_is_default

.Lload_default_fcw:
    movw    $JANUS_FCW_DEFAULT, -4(%rsp)
    fnclex                                      // slow: only when the x87 words differ
    fldcw   -4(%rsp)
    jmp     .Lcall

.Lload_callers_fcw:
    fnclex
    fldcw   JANUS_TASK_FRAME_FCW(%rsp)
    jmp     .Lleave
    .cfi_endproc
    .size   janus_task_call, . - janus_task_call

// int64_t janus_half_call(void* arg, int64_t (*fn)(void*), uint64_t* frame_sp)      rdi, rsi, rdx
// In janus_task_call's section: if it is abandoned, it ends there, with the default control words.
    .p2align 4
    .globl  janus_half_call
    .hidden janus_half_call
    .type   janus_half_call, @function
janus_half_call:
    .cfi_startproc
    sub     $FRAME_BYTES, %rsp
    .cfi_adjust_cfa_offset FRAME_BYTES
    mov     %rbp, JANUS_TASK_FRAME_RBP(%rsp)
    lea     JANUS_TASK_FRAME_RBP(%rsp), %rbp
    .cfi_offset DWARF_RBP, CFA_OFFSET(RBP)
    movl    $JANUS_MXCSR_DEFAULT, JANUS_TASK_FRAME_MXCSR(%rsp)
    movw    $JANUS_FCW_DEFAULT, JANUS_TASK_FRAME_FCW(%rsp)
    mov     %rbx, JANUS_TASK_FRAME_RBX(%rsp)
    mov     %r12, JANUS_TASK_FRAME_R12(%rsp)
    mov     %r13, JANUS_TASK_FRAME_R13(%rsp)
    mov     %r14, JANUS_TASK_FRAME_R14(%rsp)
    mov     %r15, JANUS_TASK_FRAME_R15(%rsp)
    mov     %rsp, (%rdx)
.Lcall_half:
    call    *%rsi
    mov     JANUS_TASK_FRAME_RBP(%rsp), %rbp
    .cfi_restore DWARF_RBP
    add     $FRAME_BYTES, %rsp
    .cfi_adjust_cfa_offset -FRAME_BYTES
    ret
    .cfi_endproc
    .size   janus_half_call, . - janus_half_call

// const uint32_t: the offsets in janus_task_call's section at which it and janus_half_call call the function, for the
// fault handler.
    .pushsection .rodata.janus_task_call_fn_at, "a", @progbits
    .globl  janus_task_call_fn_at
    .hidden janus_task_call_fn_at
    .type   janus_task_call_fn_at, @object
    .size   janus_task_call_fn_at, 8
    .p2align 2
janus_task_call_fn_at:
    .long   .Lcall_fn - janus_task_call
    .long   .Lcall_half - janus_task_call
    .popsection

// void janus_task_abandon(uint64_t frame_sp, int64_t value)      rdi, rsi. In janus_task_call's section: it ends there.
    .p2align 4
    .globl  janus_task_abandon
    .hidden janus_task_abandon
    .type   janus_task_abandon, @function
janus_task_abandon:
    .cfi_startproc
    mov     %rsi, %rax
    mov     %rdi, %rsp                          // as janus_task_call left it
    .cfi_adjust_cfa_offset FRAME_BYTES
    .cfi_offset DWARF_RBP, CFA_OFFSET(RBP)
    .cfi_offset DWARF_RBX, CFA_OFFSET(RBX)
    .cfi_offset DWARF_R12, CFA_OFFSET(R12)
    .cfi_offset DWARF_R13, CFA_OFFSET(R13)
    .cfi_offset DWARF_R14, CFA_OFFSET(R14)
    .cfi_offset DWARF_R15, CFA_OFFSET(R15)
    mov     JANUS_TASK_FRAME_RBX(%rsp), %rbx
    mov     JANUS_TASK_FRAME_R12(%rsp), %r12
    mov     JANUS_TASK_FRAME_R13(%rsp), %r13
    mov     JANUS_TASK_FRAME_R14(%rsp), %r14
    mov     JANUS_TASK_FRAME_R15(%rsp), %r15
    cld
    jmp     .Lreturned
END(janus_task_abandon)

// void janus_run_on_stack(std::byte* top, void (*fn)(void*), void* arg)      rdi, rsi, rdx
FUNC(janus_run_on_stack)
    and     $-16, %rdi
    mov     %rdi, %rsp
    .cfi_undefined DWARF_RIP                    // no caller: stack walkers end here
    xor     %ebp, %ebp
    mov     %rdx, %rdi
    call    *%rsi
    ud2
END(janus_run_on_stack)
