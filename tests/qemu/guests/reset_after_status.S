// SPDX-License-Identifier: Apache-2.0
// Reports status 0, then resets.
#include "guest_asm.h"
        SAY     kStatusPort, "exit 0\n"
        TRIPLE_FAULT
