// SPDX-License-Identifier: Apache-2.0
// packed.c — uses a library of the host that the build system has found.
#include <stdio.h>
#include <zlib.h>

int main(void) {
  return crc32(0, (const Bytef*)"C", 1) != 0x3dd7ffa7 || printf("greetings to zlib\n") < 0;
}
