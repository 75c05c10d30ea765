// SPDX-License-Identifier: Apache-2.0
// All tests pass, then main panics.
#include "guest_asm.h"
        SAY     kConsole, "1..2\nok 1 - one\nok 2 - two\n"
        SAY     kConsole, "janus: task 1 'main' panicked\n"
        SAY     kStatusPort, "exit 134\n"
        DOOR    kDone
