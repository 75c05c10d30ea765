// SPDX-License-Identifier: Apache-2.0
// One of two tests passes, then the guest waits for ever.
#include "guest_asm.h"
        SAY     kConsole, "1..2\nok 1 - one\n"
        STAY
