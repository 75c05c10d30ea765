// SPDX-License-Identifier: Apache-2.0
// The letter e and a combining accent become one code point.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

int main(void) {
  utf8proc_uint8_t* const composed = utf8proc_NFC((const utf8proc_uint8_t*)"e\xcc\x81");
  const int ok = composed != NULL && strcmp((const char*)composed, "\xc3\xa9") == 0;
  free(composed);
  printf("%s\n", utf8proc_version());
  return ok ? 0 : 1;
}
