// SPDX-License-Identifier: Apache-2.0
// The console lacks its first line, and with it how many results there are.
#include "guest_asm.h"
        SAY     kConsole, "ok 1 - one\nok 2 - two\n"
        SAY     kStatusPort, "exit 0\n"
        DOOR    kDone
