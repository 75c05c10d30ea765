// SPDX-License-Identifier: Apache-2.0
// entry.S — the first instruction. A loader that speaks PVH (QEMU's -kernel, Firecracker, Cloud Hypervisor) reads the
// note, loads the program where its headers say and jumps to janus_pvh_start: 32-bit protected mode, flat segments, no
// paging, interrupts off, ebx the address of the start info. Step 1 of 11 (boot.cpp has the others): clears .bss and
// enters 64-bit mode, on the boot stack, with the first 4 GiB mapped at their physical addresses.
#include <arch/asm.h>
#include "kernel-free/cpu/selectors.h"

#define NOTE_PHYS32_ENTRY 18            // XEN_ELFNOTE_PHYS32_ENTRY

#define CR0_PROTECTED 0x1
#define CR0_MONITOR 0x2                 // the wait instruction tests the task-switched bit, which is never set
#define CR0_EMULATE 0x4
#define CR0_TASK_SWITCHED 0x8
#define CR0_X87_ERRORS 0x20             // are reported as exceptions
#define CR0_WRITE_PROTECT 0x10000       // read-only pages are read-only in ring 0, too
#define CR0_CACHES_OFF 0x60000000
#define CR0_PAGING 0x80000000
#define CR4_PAE 0x20
#define CR4_SSE 0x600                   // fxsave, and SSE's exceptions
#define MSR_EFER 0xc0000080
#define EFER_LONG_MODE 0x100
#define EFER_NO_EXECUTE 0x800

#define ENTRY_TABLE 0x3                 // present, writable
#define ENTRY_2_MIB 0x83                // present, writable, a large page

#define COM1 0x3f8
#define COM2 0x2f8
#define LINE_STATUS 5
#define ALL_SENT 0x40                   // also reads as set if there is no port
#define EXIT_PORT 0xf4                  // these two as in console/end.cpp
#define ORDERLY 0x10

#define ELF_SEGMENTS 32                 // as in image.cpp
#define ELF_SEGMENT_COUNT 56
#define SEGMENT_LOAD 1
#define SEGMENT_ADDRESS 16
#define SEGMENT_FILE_BYTES 32
#define SEGMENT_MEMORY_BYTES 40
#define SEGMENT_BYTES 56

        .section .note.janus.pvh, "a", @note
        .p2align 2
        .long   2f - 1f, 4f - 3f, NOTE_PHYS32_ENTRY
1:      .asciz  "Xen"
2:      .p2align 2
3:      .quad   janus_pvh_start
4:

        .section .text.janus_pvh_start, "ax", @progbits
        .code32
        .globl  janus_pvh_start
        .hidden janus_pvh_start
        .type   janus_pvh_start, @function
janus_pvh_start:
        cli
        cld
        mov     $janus_boot_stack_top, %esp
        mov     %ebx, %ebp

        // Zero each segment's memory beyond its part of the file: the loader did so, but firmware has run since. If the
        // segment's last byte does not keep a written value, there is no memory, and no stack for reading the memory
        // map.
        mov     $__ehdr_start, %edx
        movzwl  ELF_SEGMENT_COUNT(%edx), %ebx
        add     ELF_SEGMENTS(%edx), %edx
1:      mov     SEGMENT_FILE_BYTES(%edx), %eax
        mov     SEGMENT_MEMORY_BYTES(%edx), %ecx
        sub     %eax, %ecx
        jz      2f
        cmpl    $SEGMENT_LOAD, (%edx)
        jne     2f
        mov     SEGMENT_ADDRESS(%edx), %edi
        add     %eax, %edi
        mov     $.Lno_memory_text, %esi
        mov     -1(%edi, %ecx), %al
        notb    -1(%edi, %ecx)
        cmp     %al, -1(%edi, %ecx)
        je      .Lrefuse
        xor     %eax, %eax
        mov     %ecx, %esi
        and     $3, %ecx
        rep stosb
        mov     %esi, %ecx
        shr     $2, %ecx
        rep stosl
2:      add     $SEGMENT_BYTES, %edx
        dec     %ebx
        jnz     1b

        mov     $0x80000000, %eax
        cpuid
        cmp     $0x80000001, %eax
        jb      .Ltoo_old
        mov     $0x80000001, %eax
        cpuid
        bt      $29, %edx               // 64-bit mode
        jnc     .Ltoo_old
        bt      $20, %edx               // no-execute pages
        jnc     .Ltoo_old

        // Map 4 GiB at their physical addresses: one table of the top level, one below it, four of 2 MiB pages.
        movl    $.Lthird_level + ENTRY_TABLE, .Lfourth_level
        mov     $.Lthird_level, %edi
        mov     $.Lsecond_level + ENTRY_TABLE, %eax
        mov     $4, %ecx
1:      mov     %eax, (%edi)
        add     $8, %edi
        add     $4096, %eax
        loop    1b
        mov     $.Lsecond_level, %edi
        mov     $ENTRY_2_MIB, %eax
        mov     $4 * 512, %ecx
2:      mov     %eax, (%edi)
        add     $8, %edi
        add     $0x200000, %eax
        loop    2b

        mov     $.Lfourth_level, %eax
        mov     %eax, %cr3
        mov     %cr4, %eax
        or      $CR4_PAE | CR4_SSE, %eax
        mov     %eax, %cr4
        mov     $MSR_EFER, %ecx
        rdmsr
        or      $EFER_LONG_MODE | EFER_NO_EXECUTE, %eax
        wrmsr
        mov     %cr0, %eax
        and     $~(CR0_EMULATE | CR0_TASK_SWITCHED | CR0_CACHES_OFF), %eax
        or      $CR0_PROTECTED | CR0_MONITOR | CR0_X87_ERRORS | CR0_WRITE_PROTECT | CR0_PAGING, %eax
        mov     %eax, %cr0
        lgdt    .Lboot_gdt
        ljmp    $SELECTOR_CODE, $.Lin_64_bits

        // No C++ code can run here. Does as refuse(): prints a line on the first serial port and the status on the
        // second, and ends the machine.
.Ltoo_old:
        mov     $.Ltoo_old_text, %esi
.Lrefuse:
        mov     $COM1, %ecx
3:      lea     LINE_STATUS(%ecx), %edx
        in      %dx, %al
        test    $ALL_SENT, %al
        jz      3b
        lodsb
        test    %al, %al
        jz      4f
        mov     %ecx, %edx
        out     %al, %dx
        jmp     3b
4:      mov     $.Lstatus_text, %esi
        cmp     $COM2, %ecx
        mov     $COM2, %ecx
        jne     3b
        mov     $EXIT_PORT, %edx
        mov     $ORDERLY, %eax
        out     %eax, %dx
        lidt    .Lno_idt
        ud2                             // without a handler it resets the machine

        .code64
.Lin_64_bits:
        xor     %eax, %eax
        mov     %eax, %ss
        mov     %eax, %ds
        mov     %eax, %es
        mov     %eax, %fs
        mov     %eax, %gs
        mov     %ebp, %edi              // the start info
        xor     %ebp, %ebp
        call    janus_boot_first_cpu
        ud2
        .size   janus_pvh_start, . - janus_pvh_start

// The entry point in the ELF header: a loader that jumps here does not use PVH. The processor's mode is unknown then,
// so only 64-bit code and a stack of our own are assumed.
FUNC(_start)
        .cfi_undefined %rip
        cli
        cld
        lea     janus_boot_stack_top(%rip), %rsp
        xor     %ebp, %ebp
        xor     %edi, %edi              // no start info
        call    janus_boot_first_cpu
        ud2
END(_start)

        .section .rodata.janus_entry, "a", @progbits
.Ltoo_old_text:
        .asciz  "janus: this processor has no 64-bit mode, or none with pages that are not executed\n"
.Lno_memory_text:
        .asciz  "janus: too little memory: the program does not lie in it\n"
.Lstatus_text:
        .asciz  "exit 134\n"
        .p2align 3
.Lboot_gdt_table:
        .quad   0, DESCRIPTOR_CODE
.Lboot_gdt:
        .word   . - .Lboot_gdt_table - 1
        .long   .Lboot_gdt_table
.Lno_idt:
        .word   0
        .long   0

        .section .bss.janus_entry, "aw", @nobits
        .p2align 12
.Lfourth_level:
        .skip   4096
.Lthird_level:
        .skip   4096
.Lsecond_level:
        .skip   4 * 4096

        // The boot stack: the boot steps run on it, then the first CPU's idle thread.
        .globl  janus_boot_stack_guard
        .hidden janus_boot_stack_guard
janus_boot_stack_guard:
        .skip   4096
        .skip   4 * 4096
janus_boot_stack_top:
