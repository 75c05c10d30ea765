// SPDX-License-Identifier: Apache-2.0
// Writes a wrong value to the exit port.
#include "guest_asm.h"
        SAY     kStatusPort, "exit 0\n"
        DOOR    0x11
