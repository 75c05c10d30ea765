// SPDX-License-Identifier: Apache-2.0
// The output ends in the middle of its last line.
#include "guest_asm.h"
        SAY     kConsole, "1..2\nok 1 - one\nok 2 - tw"
        SAY     kStatusPort, "exit 0\n"
        DOOR    kDone
