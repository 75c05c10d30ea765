// SPDX-License-Identifier: Apache-2.0
// Data that lz4 compressed is restored.
#include <lz4.h>
#include <lz4hc.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  const char text[] = "round and round and round and round and round and round";
  char packed[200], back[200];
  const int fast = LZ4_compress_default(text, packed, sizeof text, sizeof packed);
  int ok = fast > 0 && LZ4_decompress_safe(packed, back, fast, sizeof back) == sizeof text && strcmp(back, text) == 0;
  const int small = LZ4_compress_HC(text, packed, sizeof text, sizeof packed, 9);
  ok = ok && small > 0 && LZ4_decompress_safe(packed, back, small, sizeof back) == sizeof text &&
       strcmp(back, text) == 0;
  printf("%s\n", LZ4_versionString());
  return ok ? 0 : 1;
}
