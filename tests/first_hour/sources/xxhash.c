// SPDX-License-Identifier: Apache-2.0
// The hashes of no bytes and of one byte are those of the specification of xxHash.
#include <stdio.h>
#include <xxhash.h>

int main(void) {
  const int ok = XXH32("", 0, 0) == 0x02CC5D05U && XXH64("", 0, 0) == 0xEF46DB3751D8E999ULL &&
                 XXH32("a", 1, 0) == 0x550D7456U && XXH64("a", 1, 0) == 0xD24EC4F1A98C6E5BULL;
  printf("%u\n", XXH_versionNumber());
  return ok ? 0 : 1;
}
