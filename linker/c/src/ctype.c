// SPDX-License-Identifier: Apache-2.0
// ctype.c: the character classes of the C locale. The argument may be any int: one that is no character is in no class.
#include <ctype.h>

#include "linker/c/src/define.h"

static int in_range(int c, int first, int last) {
  return (unsigned)c - (unsigned)first <= (unsigned)(last - first);
}

JANUS_C_DEFINE int isascii(int c) {
  return in_range(c, 0, 127);
}
JANUS_C_DEFINE int isblank(int c) {
  return c == ' ' || c == '\t';
}
JANUS_C_DEFINE int iscntrl(int c) {
  return in_range(c, 0, 31) || c == 127;
}
JANUS_C_DEFINE int isdigit(int c) {
  return in_range(c, '0', '9');
}
JANUS_C_DEFINE int isgraph(int c) {
  return in_range(c, 33, 126);
}
JANUS_C_DEFINE int islower(int c) {
  return in_range(c, 'a', 'z');
}
JANUS_C_DEFINE int isprint(int c) {
  return in_range(c, 32, 126);
}
JANUS_C_DEFINE int isspace(int c) {
  return c == ' ' || in_range(c, '\t', '\r');
}
JANUS_C_DEFINE int isupper(int c) {
  return in_range(c, 'A', 'Z');
}
JANUS_C_DEFINE int isalpha(int c) {
  return isupper(c) || islower(c);
}
JANUS_C_DEFINE int isalnum(int c) {
  return isalpha(c) || isdigit(c);
}
JANUS_C_DEFINE int ispunct(int c) {
  return isgraph(c) && !isalnum(c);
}
JANUS_C_DEFINE int isxdigit(int c) {
  return isdigit(c) || in_range(c, 'a', 'f') || in_range(c, 'A', 'F');
}
JANUS_C_DEFINE int toascii(int c) {
  return c & 127;
}
JANUS_C_DEFINE int tolower(int c) {
  return isupper(c) ? c + ('a' - 'A') : c;
}
JANUS_C_DEFINE int toupper(int c) {
  return islower(c) ? c - ('a' - 'A') : c;
}
