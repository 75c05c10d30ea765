// SPDX-License-Identifier: Apache-2.0
// Faults, where there is nobody to take the fault: the processor resets.
#include "guest_asm.h"
        SAY     kConsole, "here\n"
        TRIPLE_FAULT
