// SPDX-License-Identifier: Apache-2.0
// Says something, and then nothing ever again.
#include "guest_asm.h"
        SAY     kConsole, "here\n"
        STAY
