// SPDX-License-Identifier: Apache-2.0
// Every call at every depth above the initial end of a stack: the stack grows at the entry of the call, or when the
// call pushes its first word, and the call works.
#define MAY_GROW
#include "every_depth_of_stack_works_or_panics.c"
