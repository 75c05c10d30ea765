// SPDX-License-Identifier: Apache-2.0
// guest_asm.h — the common part of the smallest images: they are entered by PVH in 32-bit mode with the start info in
// ebx, print to a serial port, and end in different ways.
        .set    kConsole, 0x3f8
        .set    kStatusPort, 0x2f8
        .set    kDoor, 0xf4
        .set    kDone, 0x10

        .section .note.Xen, "a"
        .long   4, 4, 18                // sizes of name and content; XEN_ELFNOTE_PHYS32_ENTRY
        .asciz  "Xen"
        .long   entry

        .text
        .code32
// Sends ecx bytes at esi to the port in edx, waiting for the port. Clobbers eax.
send:   jecxz   2f
        add     $5, %edx
1:      in      %dx, %al
        test    $0x20, %al
        jz      1b
        sub     $5, %edx
        outsb
        dec     %ecx
        jmp     send
2:      ret

        .macro  SAY port, text
        .section .rodata
7:      .ascii  "\text"
8:
        .text
        mov     $7b, %esi
        mov     $8b - 7b, %ecx
        mov     $\port, %edx
        call    send
        .endm

        .macro  DOOR value
        mov     $\value, %al
        out     %al, $kDoor
        STAY
        .endm

        .macro  STAY
9:      cli
        hlt
        jmp     9b
        .endm

        .macro  TRIPLE_FAULT
        lidt    nothing
        ud2
        .section .rodata
nothing:
        .skip   6
        .text
        .endm

        .section .note.GNU-stack, "", @progbits
        .bss
        .skip   256
stack_top:
        .text
        .globl  entry
entry:  mov     $stack_top, %esp
