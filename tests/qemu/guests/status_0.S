// SPDX-License-Identifier: Apache-2.0
// Ends as an image whose main returned 0.
#include "guest_asm.h"
        SAY     kConsole, "hello\n"
        SAY     kStatusPort, "exit 0\n"
        DOOR    kDone
