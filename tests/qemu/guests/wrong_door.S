// SPDX-License-Identifier: Apache-2.0
// Ends by a value that is not the one agreed upon.
#include "guest_asm.h"
        SAY     kStatusPort, "exit 0\n"
        DOOR    0x11
