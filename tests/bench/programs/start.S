// SPDX-License-Identifier: Apache-2.0
// start.S: the entry of the program in place of _start. Records the time stamp counter and continues there. In a static
// program the kernel enters with rdx = 0, so rdx must be 0 again.
#include <arch/asm.h>

FUNC(bench_start)
    rdtsc
    shl     $32, %rdx
    or      %rdx, %rax
    mov     %rax, bench_entered_at(%rip)
    xor     %edx, %edx
    jmp     _start
END(bench_start)
