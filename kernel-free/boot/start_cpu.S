// SPDX-License-Identifier: Apache-2.0
// start_cpu.S — the first code of every CPU but the first: in real mode, at the start of a page below 1 MiB into which
// the code up to janus_start_cpu_end has been copied. It enters 64-bit mode directly, under the page tables that are in
// force.
#include <arch/asm.h>
#include "kernel-free/cpu/selectors.h"

#define CR0_VALUE 0x80010023            // as in entry.S: protected, monitor, x87 errors, write protect, paging
#define CR4_VALUE 0x620                 // PAE, fxsave, SSE exceptions
#define MSR_EFER 0xc0000080
#define EFER_BITS 0x900                 // long mode, no-execute

        .section .rodata.janus_start_cpu, "a", @progbits
        .code16
        .globl  janus_start_cpu, janus_start_cpu_end, janus_start_cpu_tables, janus_start_cpu_gdt
        .hidden janus_start_cpu, janus_start_cpu_end, janus_start_cpu_tables, janus_start_cpu_gdt
        .p2align 4
janus_start_cpu:
        cli
        cld
        mov     %cs, %ax
        mov     %ax, %ds
        lgdtl   janus_start_cpu_gdt - janus_start_cpu
        mov     $CR4_VALUE, %eax
        mov     %eax, %cr4
        mov     janus_start_cpu_tables - janus_start_cpu, %eax
        mov     %eax, %cr3
        mov     $MSR_EFER, %ecx
        rdmsr
        or      $EFER_BITS, %eax
        wrmsr
        mov     $CR0_VALUE, %eax
        mov     %eax, %cr0
        ljmpl   $SELECTOR_CODE, $janus_start_cpu_64
        .p2align 3
janus_start_cpu_tables:                 // filled in in the copy: the top page table
        .long   0
janus_start_cpu_gdt:                    // filled in, too: the address of the segments below
        .word   15
        .long   .Lsegments - janus_start_cpu
        .p2align 3
.Lsegments:
        .quad   0, DESCRIPTOR_CODE
janus_start_cpu_end:

        .code64
        .hidden janus_started_cpus, janus_starting_cpus, janus_run_started_cpu
FUNC(janus_start_cpu_64)
        .cfi_undefined %rip
        xor     %eax, %eax
        mov     %eax, %ss
        mov     %eax, %ds
        mov     %eax, %es
        mov     %eax, %fs
        mov     %eax, %gs
        mov     $1, %eax
        lock xadd %eax, janus_started_cpus(%rip)        // each started CPU takes the next prepared entry
        shl     $4, %rax
        add     janus_starting_cpus(%rip), %rax
        mov     (%rax), %rdi            // the Cpu
        mov     8(%rax), %rsp           // its stack
        xor     %ebp, %ebp
        call    janus_run_started_cpu
        ud2
END(janus_start_cpu_64)
