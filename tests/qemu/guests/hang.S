// SPDX-License-Identifier: Apache-2.0
// Says something, and then nothing ever again.
#include "guest.h"
        SAY     kConsole, "here\n"
        STAY
