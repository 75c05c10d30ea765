// SPDX-License-Identifier: Apache-2.0
// start.S: the program's entry in place of _start: notes the time stamp counter and goes on there. The kernel enters
// with rdx 0 in a static program, and that is how it is left.
#include <arch/asm.h>

FUNC(bench_start)
    rdtsc
    shl     $32, %rdx
    or      %rdx, %rax
    mov     %rax, bench_entered_at(%rip)
    xor     %edx, %edx
    jmp     _start
END(bench_start)
