// SPDX-License-Identifier: Apache-2.0
// The first line of the output is missing, and with it the number of results.
#include "guest_asm.h"
        SAY     kConsole, "ok 1 - one\nok 2 - two\n"
        SAY     kStatusPort, "exit 0\n"
        DOOR    kDone
