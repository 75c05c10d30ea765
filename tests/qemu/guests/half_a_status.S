// SPDX-License-Identifier: Apache-2.0
// Turns the machine off in the middle of reporting its status.
#include "guest_asm.h"
        SAY     kStatusPort, "exit 1"
        DOOR    kDone
