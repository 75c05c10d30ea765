// SPDX-License-Identifier: Apache-2.0
// Prints a mebibyte to the console, in lines of 63 letters.
#include "guest_asm.h"
        mov     $16384, %ebx
5:      SAY     kConsole, "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk\n"
        dec     %ebx
        jnz     5b
        SAY     kStatusPort, "exit 0\n"
        DOOR    kDone
