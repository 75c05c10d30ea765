// SPDX-License-Identifier: Apache-2.0
// Ends as an image whose main returned 7.
#include "guest_asm.h"
        SAY     kStatusPort, "exit 7\n"
        DOOR    kDone
