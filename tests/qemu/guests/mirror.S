// SPDX-License-Identifier: Apache-2.0
// Prints what it was given: its command line, a newline, and the first module (the initial RAM file system).
#include "guest_asm.h"
        .set    kModules, 12            // offsets in the start info
        .set    kModuleList, 16
        .set    kCommandLine, 24
        mov     kCommandLine(%ebx), %esi
        mov     %esi, %edi
        xor     %eax, %eax
        or      $-1, %ecx
        repne scasb
        lea     -1(%edi), %ecx
        sub     %esi, %ecx
        mov     $kConsole, %edx
        call    send
        SAY     kConsole, "\n"
        cmpl    $0, kModules(%ebx)
        je      6f
        mov     kModuleList(%ebx), %edi
        mov     (%edi), %esi
        mov     8(%edi), %ecx
        mov     $kConsole, %edx
        call    send
6:      SAY     kStatusPort, "exit 0\n"
        DOOR    kDone
