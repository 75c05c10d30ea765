// SPDX-License-Identifier: Apache-2.0
// REFUSED: incompatible.pointer.types
#include <janus/rt.h>
int test(void);
int test(void) {
  long counter = 0;
  return JANUS_LOOP_CHECK(counter);
}
