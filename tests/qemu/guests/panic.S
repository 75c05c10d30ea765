// SPDX-License-Identifier: Apache-2.0
// Ends as an image whose main panicked.
#include "guest_asm.h"
        SAY     kConsole, "janus: task 1 'main' panicked\n"
        SAY     kStatusPort, "exit 134\n"
        DOOR    kDone
