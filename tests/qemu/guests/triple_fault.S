// SPDX-License-Identifier: Apache-2.0
// Faults without a handler: the processor resets.
#include "guest_asm.h"
        SAY     kConsole, "here\n"
        TRIPLE_FAULT
