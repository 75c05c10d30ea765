// SPDX-License-Identifier: Apache-2.0
// start.S — the entry point of a program of ours. An archive member of its own, which the linker leaves out of hosts
// that have start code of their own.
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
