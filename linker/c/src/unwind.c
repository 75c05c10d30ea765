// SPDX-License-Identifier: Apache-2.0
// unwind.c: functions for unwinding. No program here unwinds, but objects that were compiled for it refer to these:
// Rust's core and alloc always do, C does with -fexceptions.
#include <janus/rt.h>

#include "linker/c/src/define.h"

#define UNWINDS(name)                                      \
  JANUS_C_DEFINE void name(void) {                         \
    janus_task_panic("unwinding, of which there is none"); \
  }

UNWINDS(_Unwind_Resume)
UNWINDS(__gcc_personality_v0)
UNWINDS(rust_eh_personality)
