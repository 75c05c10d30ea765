// SPDX-License-Identifier: Apache-2.0
// Every call at every depth above the place where a stack ends at first: it becomes larger at the door of the call, or
// where that pushes its first word, and the call works.
#define MAY_GROW
#include "every_depth_of_stack_works_or_panics.c"
