// SPDX-License-Identifier: Apache-2.0
// hello.c: the smallest program that prints something.
#include <janus/rt.h>

int main(void) {
  return janus_print(1, "hello\n");
}
