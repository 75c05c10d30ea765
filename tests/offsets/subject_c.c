// SPDX-License-Identifier: Apache-2.0
// subject_c.c — the yield check as compiled in a C program.
#include <janus/rt.h>

int subject_yield_check_in_c(void);
int subject_yield_check_in_c(void) {
  return janus_yield_check(1);
}
