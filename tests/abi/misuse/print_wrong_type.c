// SPDX-License-Identifier: Apache-2.0
// REFUSED: Werror.*format
#include <janus/rt.h>
void test(void);
void test(void) {
  janus_print(1, "%d\n", "not a number");
}
