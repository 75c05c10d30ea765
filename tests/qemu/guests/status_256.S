// SPDX-License-Identifier: Apache-2.0
// Reports a status that no process can have.
#include "guest_asm.h"
        SAY     kStatusPort, "exit 256\n"
        DOOR    kDone
