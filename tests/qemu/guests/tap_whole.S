// SPDX-License-Identifier: Apache-2.0
// Two passing tests, with complete output.
#include "guest_asm.h"
        SAY     kConsole, "1..2\nok 1 - one\nok 2 - two\n"
        SAY     kStatusPort, "exit 0\n"
        DOOR    kDone
