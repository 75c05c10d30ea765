// SPDX-License-Identifier: Apache-2.0
#include "greet.h"

#include <stdio.h>

int greet(const char* whom) {
  return printf("greetings to %s\n", whom) < 0;
}
