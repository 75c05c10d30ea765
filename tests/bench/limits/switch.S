// SPDX-License-Identifier: Apache-2.0
// switch.S — the least work for the limits: a switch, a member of a ring, a fork.
#include <arch/asm.h>
#include "tests/bench/limits/fiber.h"

.macro save_registers
    push    %rbp
    push    %rbx
    push    %r12
    push    %r13
    push    %r14
    push    %r15
.endm

.macro restore_registers
    pop     %r15
    pop     %r14
    pop     %r13
    pop     %r12
    pop     %rbx
    pop     %rbp
.endm

//   void limit_switch(void** from, void* to)       rdi, rsi
FUNC(limit_switch)
    save_registers
    mov     %rsp, (%rdi)
    mov     %rsi, %rsp
    restore_registers
    pop     %rcx                            // a ret would be mispredicted: its address is not that of the last call
    jmp     *%rcx
END(limit_switch)

// A fresh fiber starts here, with entry in rbx and its argument in r12.
FUNC(limit_fiber_start)
    mov     %r12, %rdi
    call    *%rbx
    ud2
END(limit_fiber_start)

// A member of the ring starts here. The word to which this stack's pointer leads holds its stack pointer, in the one
// cache line that holds all of the fiber. rbx: this member's word. r12: the next member's. r13: how often it ran. r14:
// the word of a member that comes soon.
FUNC(limit_ring_member)
1:  inc     %r13
    prefetcht0 (%r14)
    mov     %rbx, %rdi
    mov     (%r12), %rsi
    call    limit_switch
    jmp     1b
END(limit_ring_member)

//   void limit_fork(struct fork*, void (*function)(void*), void* argument)       rdi, rsi, rdx
// Calls the function on a new stack, while the caller is in the deque for thieves. Returns if no thief took it.
FUNC(limit_fork)
    save_registers
    mov     FORK_BOTTOM(%rdi), %rax
    mov     %rax, %rcx
    and     FORK_MASK(%rdi), %rcx
    mov     FORK_BUFFER(%rdi), %r8
    mov     %rsp, (%r8, %rcx, 8)
    inc     %rax
    mov     %rax, FORK_BOTTOM(%rdi)         // the push: x86 keeps the order of the two stores
    mov     FORK_STACKS(%rdi), %r8
    sub     $8, %r8
    mov     (%r8), %rsp
    mov     %r8, FORK_STACKS(%rdi)
    mov     %rdi, %rbx
    mov     %rsp, %rbp
    mov     %rdx, %rdi
    call    *%rsi
    mov     FORK_STACKS(%rbx), %r8
    mov     %rbp, (%r8)
    add     $8, %r8
    mov     %r8, FORK_STACKS(%rbx)
    mov     FORK_BOTTOM(%rbx), %rax
    dec     %rax
    mov     %rax, %rcx
    xchg    %rcx, FORK_BOTTOM(%rbx)         // the fence between writing bottom and reading top
    mov     FORK_TOP(%rbx), %rdx
    cmp     %rax, %rdx
    jge     2f
1:  and     FORK_MASK(%rbx), %rax
    mov     FORK_BUFFER(%rbx), %r8
    mov     (%r8, %rax, 8), %rsp
    restore_registers
    ret                                     // returns from the call: the child ran in between, as a callee does
2:  jg      3f                              // the last item: a thief might take it at the same time
    lea     1(%rax), %rcx
    mov     %rcx, FORK_BOTTOM(%rbx)
    lock cmpxchg %rcx, FORK_TOP(%rbx)       // from rax
    je      1b
3:  ud2                                     // there are no thieves here
END(limit_fork)
