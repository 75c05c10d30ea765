// SPDX-License-Identifier: Apache-2.0
// Decodes a stream that another encoder made.
#include <brotli/decode.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  static const uint8_t packed[] = "\x0b\x02\x80hello\x03";
  uint8_t back[20];
  size_t count = sizeof back;
  const int ok = BrotliDecoderDecompress(sizeof packed - 1, packed, &count, back) == BROTLI_DECODER_RESULT_SUCCESS &&
                 count == 5 && memcmp(back, "hello", 5) == 0;
  printf("%x\n", (unsigned)BrotliDecoderVersion());
  return ok ? 0 : 1;
}
