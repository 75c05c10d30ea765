// SPDX-License-Identifier: Apache-2.0
// One of two tests passes, then the guest loops for ever.
#include "guest_asm.h"
        SAY     kConsole, "1..2\nok 1 - one\n"
1:      jmp     1b
