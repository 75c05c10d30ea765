// SPDX-License-Identifier: Apache-2.0
// All tests pass, and main returns 1.
#include "guest_asm.h"
        SAY     kConsole, "1..2\nok 1 - one\nok 2 - two\n"
        SAY     kStatusPort, "exit 1\n"
        DOOR    kDone
