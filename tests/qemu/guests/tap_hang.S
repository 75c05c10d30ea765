// SPDX-License-Identifier: Apache-2.0
// One of two tests passes, and then nothing ever happens again.
#include "guest_asm.h"
        SAY     kConsole, "1..2\nok 1 - one\n"
        STAY
