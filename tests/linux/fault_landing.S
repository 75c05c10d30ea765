// SPDX-License-Identifier: Apache-2.0
// fault_landing.S — where the tests' fault handler continues: records mxcsr, the x87 control word, the flags, two
// vector registers and the alignment of rsp before compiled code can change them, then calls
// janus_test_landed(argument, state).
#include <arch/asm.h>

FUNC(janus_test_land)
        .cfi_undefined %rip
        mov     %rsp, %rax
        and     $15, %eax
        pushfq
        pop     %rdx
        and     $-16, %rsp
        sub     $64, %rsp
        movups  %xmm0, (%rsp)           // the four words of both, combined by or into two
        movups  %xmm15, 16(%rsp)
        mov     (%rsp), %rcx
        or      8(%rsp), %rcx
        mov     16(%rsp), %r8
        or      24(%rsp), %r8
        movq    $0, (%rsp)
        movq    $0, 8(%rsp)
        stmxcsr (%rsp)
        fnstcw  8(%rsp)
        mov     %rdx, 16(%rsp)
        mov     %rcx, 24(%rsp)
        mov     %r8, 32(%rsp)
        mov     %rax, 40(%rsp)
        mov     %rsp, %rsi
        call    janus_test_landed
        ud2
END(janus_test_land)
