// SPDX-License-Identifier: Apache-2.0
// One of two tests passes, and then the processor is busy for ever.
#include "guest_asm.h"
        SAY     kConsole, "1..2\nok 1 - one\n"
1:      jmp     1b
