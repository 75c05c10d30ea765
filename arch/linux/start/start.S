// SPDX-License-Identifier: Apache-2.0
// start.S — where the kernel enters a program of ours. An archive member of its own: a host that brings its own start
// code never refers to _start's neighbours, and the linker then leaves this one out.
//   rsp: argc, argv[], NULL, envp[], NULL, auxv[]        rdx: 0 in a static program
#include <arch/asm.h>

        .weak   _DYNAMIC
        .hidden _DYNAMIC
        .hidden janus_start_process

FUNC(_start)
        .cfi_undefined %rip             // unwinders stop here
        xor     %ebp, %ebp
        mov     %rsp, %rdi
        lea     _DYNAMIC(%rip), %rsi    // in C this would be a load from a table that is not relocated yet
        and     $-16, %rsp
        call    janus_start_process
        ud2
END(_start)
