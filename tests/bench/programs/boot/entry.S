// SPDX-License-Identifier: Apache-2.0
// entry.S: the first instruction of an image whose boot note ../../boot.py has changed to it. Records the time stamp
// counter and continues at janus_pvh_start. In 32-bit mode; ebx holds the start info, and all other registers are free.
        .section .text.bench_pvh_entry, "ax", @progbits
        .code32
        .globl  bench_pvh_entry
        .type   bench_pvh_entry, @function
bench_pvh_entry:
        rdtsc
        mov     %eax, bench_entered_at
        mov     %edx, bench_entered_at + 4
        jmp     janus_pvh_start
        .size   bench_pvh_entry, . - bench_pvh_entry
        .section .note.GNU-stack, "", @progbits
