// SPDX-License-Identifier: Apache-2.0
// All tests pass, then the processor resets.
#include "guest_asm.h"
        SAY     kConsole, "1..2\nok 1 - one\nok 2 - two\n"
        TRIPLE_FAULT
