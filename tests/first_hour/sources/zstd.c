// SPDX-License-Identifier: Apache-2.0
// Data that zstd compressed is restored.
#include <stdio.h>
#include <string.h>
#include <zstd.h>

int main(void) {
  const char text[] = "round and round and round and round and round and round";
  char packed[200], back[200];
  const size_t count = ZSTD_compress(packed, sizeof packed, text, sizeof text, 3);
  const int ok = !ZSTD_isError(count) && ZSTD_decompress(back, sizeof back, packed, count) == sizeof text &&
                 strcmp(back, text) == 0;
  printf("%s\n", ZSTD_versionString());
  return ok ? 0 : 1;
}
