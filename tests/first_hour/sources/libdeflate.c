// SPDX-License-Identifier: Apache-2.0
// Data that libdeflate compressed is restored, and its checksum is the standard one.
#include <libdeflate.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  const char text[] = "round and round and round and round and round and round";
  char packed[200], back[200];
  struct libdeflate_compressor* const compressor = libdeflate_alloc_compressor(9);
  struct libdeflate_decompressor* const decompressor = libdeflate_alloc_decompressor();
  const size_t count = libdeflate_zlib_compress(compressor, text, sizeof text, packed, sizeof packed);
  size_t got = 0;
  const int ok =
      count > 0 &&
      libdeflate_zlib_decompress(decompressor, packed, count, back, sizeof back, &got) == LIBDEFLATE_SUCCESS &&
      got == sizeof text && strcmp(back, text) == 0 && libdeflate_crc32(0, "123456789", 9) == 0xCBF43926U;
  libdeflate_free_compressor(compressor);
  libdeflate_free_decompressor(decompressor);
  printf("%s\n", LIBDEFLATE_VERSION_STRING);
  return ok ? 0 : 1;
}
