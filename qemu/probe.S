// SPDX-License-Identifier: Apache-2.0
// probe.S — a guest that does only what every image that boots by itself does: it is entered by PVH, goes to long mode
// with page tables of its own, saves and restores the x87 and SSE registers, sleeps until the timer of the local APIC
// has ticked ten times, reports its status and ends. An accelerator that runs it within a few seconds is used: some
// accelerators emulate instructions, and repeat for ever one that they do not know.
        .set    kStatusPort, 0x2f8
        .set    kDoorPort, 0xf4
        .set    kDone, 0x10
        .set    kTicks, 10
        .set    kTimerVector, 0x40
        .set    kLocalApic, 0xfee00000

        .section .note.Xen, "a"
        .long   4, 4, 18                // sizes of name and content; XEN_ELFNOTE_PHYS32_ENTRY
        .asciz  "Xen"
        .long   entry

        .text
        .code32
        .globl  entry
entry:
        mov     $stack_top, %esp
        // Maps the first four GiB to themselves, in pages of 2 MiB.
        mov     $tables_low, %edi
        mov     $0x83, %eax             // present, writable, large
1:      mov     %eax, (%edi)
        add     $8, %edi
        add     $0x200000, %eax
        jnc     1b
        mov     $tables_low + 3, %eax
        mov     $directory, %edi
        mov     $4, %ecx
2:      mov     %eax, (%edi)
        add     $0x1000, %eax
        add     $8, %edi
        loop    2b
        movl    $directory + 3, root
        mov     $root, %eax
        mov     %eax, %cr3
        mov     %cr4, %eax
        or      $0x20, %eax             // physical address extension
        mov     %eax, %cr4
        mov     $0xc0000080, %ecx       // EFER
        rdmsr
        or      $0x100, %eax            // long mode
        wrmsr
        mov     %cr0, %eax
        or      $0x80000000, %eax       // paging
        mov     %eax, %cr0
        lgdt    gdt_pointer
        ljmp    $8, $long_mode

        .code64
long_mode:
        xor     %eax, %eax
        mov     %eax, %ss
        // Saves and restores the x87 and SSE registers, by XSAVE and XRSTOR if the processor has these instructions.
        mov     %cr4, %rax
        or      $0x600, %eax            // OSFXSR and OSXMMEXCPT: the system saves them and handles their exceptions
        mov     %rax, %cr4
        mov     $1, %eax
        cpuid
        bt      $26, %ecx               // XSAVE
        jnc     5f
        mov     %cr4, %rax
        or      $0x40000, %eax
        mov     %rax, %cr4
        xor     %ecx, %ecx
        xor     %edx, %edx
        mov     $3, %eax                // x87 and SSE
        xsetbv
        xsave64 vectors(%rip)
        xrstor64 vectors(%rip)
        jmp     6f
5:      fxsave64 vectors(%rip)
        fxrstor64 vectors(%rip)
6:      movaps  %xmm0, vectors(%rip)
        // One gate, for the timer.
        lea     tick(%rip), %rax
        lea     idt + kTimerVector * 16(%rip), %rdi
        mov     %ax, (%rdi)
        movw    $8, 2(%rdi)
        movw    $0x8e00, 4(%rdi)
        shr     $16, %rax
        mov     %ax, 6(%rdi)
        lidt    idt_pointer(%rip)
        // Masks the two 8259 interrupt controllers, and starts the local APIC's timer.
        mov     $0xff, %al
        out     %al, $0x21
        out     %al, $0xa1
        mov     $kLocalApic, %ebx
        movl    $0x1ff, 0xf0(%rbx)      // enabled
        movl    $0xb, 0x3e0(%rbx)       // counts each pulse of the bus
        movl    $0x20000 | kTimerVector, 0x320(%rbx)    // periodic
        movl    $100000, 0x380(%rbx)
3:      sti
        hlt
        cli
        cmpl    $kTicks, ticks(%rip)
        jb      3b
        lea     last_words(%rip), %rsi
        mov     $kStatusPort, %edx
        mov     $last_words_end - last_words, %ecx
        rep outsb
        mov     $kDone, %al
        mov     $kDoorPort, %edx
        out     %al, %dx
4:      hlt
        jmp     4b

tick:
        incl    ticks(%rip)
        movl    $0, 0xb0(%rbx)          // end of interrupt; the interrupted code keeps the APIC's base in rbx
        iretq

        .section .rodata
last_words:
        .ascii  "exit 0\n"
last_words_end:
        .balign 8
gdt:
        .quad   0, 0x00af9b000000ffff   // a segment of 64-bit code
gdt_pointer:
        .short  15
        .long   gdt
idt_pointer:
        .short  (kTimerVector + 1) * 16 - 1
        .quad   idt

        .bss
        .balign 4096
root:   .skip   4096
directory:
        .skip   4096
tables_low:
        .skip   4 * 4096
idt:    .skip   (kTimerVector + 1) * 16
ticks:  .skip   8
        .balign 64
vectors:
        .skip   4096
        .skip   4096
stack_top:

        .section .note.GNU-stack, "", @progbits
