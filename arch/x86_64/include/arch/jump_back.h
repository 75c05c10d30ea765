// SPDX-License-Identifier: Apache-2.0
// jump_back.h — for the last step of a function that may switch fibers. The processor predicts where a ret goes by the
// calls that came before: after a switch those were another fiber's, and each ret whose call was made before the switch
// costs some 20 cycles. A jump it predicts by where that jump went before, and partners that take turns repeat the same
// targets. So a function that leaves a fiber in the middle is called from here, as the last thing that its caller does:
// its one ret matches the call in here, the same for all fibers, and the return to the caller's caller is a jump.
#pragma once

extern "C" {
// Returns fn(a, b, c, d, e). To be called last (as a jump), so that it returns to the caller's caller.
int janus_jump_back(void* a, void* b, void* c, void* d, void* e, int (*fn)(void*, void*, void*, void*, void*));
}
