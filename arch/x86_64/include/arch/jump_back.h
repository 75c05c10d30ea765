// SPDX-License-Identifier: Apache-2.0
// jump_back.h — for the last step of what may switch fibers. The processor predicts where a ret goes by the calls that
// came before: after a switch those were another fiber's, and each ret that has no call of its own since costs some 20
// cycles. A jump it predicts by what was done before, and partners that take turns do the same again and again. So what
// leaves a fiber in the middle is called from here, as the last thing that its caller does: one ret has its call right
// here, the same for all fibers, and the one to whoever called us is a jump.
#pragma once

extern "C" {
// What fn(a, b, c, d, e) gives. To be called last (as a jump), so that it returns to the caller's caller.
int janus_jump_back(void* a, void* b, void* c, void* d, void* e, int (*fn)(void*, void*, void*, void*, void*));
}
