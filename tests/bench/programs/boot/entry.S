// SPDX-License-Identifier: Apache-2.0
// entry.S: where ../../boot.py makes an image's note point instead of to janus_pvh_start: notes the time stamp counter
// and goes on there. 32-bit mode; ebx belongs to the start info, and nothing else to anybody.
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
