// SPDX-License-Identifier: Apache-2.0
// Prints a line, then waits for ever.
#include "guest_asm.h"
        SAY     kConsole, "here\n"
        STAY
