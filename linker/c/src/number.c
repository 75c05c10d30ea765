// SPDX-License-Identifier: Apache-2.0
// number.c: conversion of text to integers, absolute values, and division with remainder; no floating point.
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "linker/c/src/define.h"

struct number {
  unsigned long long magnitude;
  int negative, overflow;
};

static int digit_value(char c) {
  if (isdigit((unsigned char)c)) return c - '0';
  if (isalpha((unsigned char)c)) return tolower((unsigned char)c) - 'a' + 10;
  return INT_MAX;
}

// Parses the prefix after the sign: replaces base 0 by the base that the prefix means, and returns the address behind
// 0x if a hexadecimal digit follows it.
static const char* after_prefix(const char* at, int* base) {
  const int hexadecimal = at[0] == '0' && (at[1] == 'x' || at[1] == 'X') && isxdigit((unsigned char)at[2]);
  if ((*base == 0 || *base == 16) && hexadecimal) {
    *base = 16;
    return at + 2;
  }
  if (*base == 0) *base = at[0] == '0' ? 8 : 10;
  return at;
}

// Parses white space, a sign, a prefix and digits. *end becomes the address behind the last digit, or `text` if there
// is none.
static struct number parse(const char* text, char** end, int base) {
  struct number number = {0, 0, 0};
  const char* at = text;
  if (end != NULL) *end = (char*)text;
  if (base < 0 || base == 1 || base > 36) {
    errno = EINVAL;
    return number;
  }
  while (isspace((unsigned char)*at)) at++;
  if (*at == '-' || *at == '+') number.negative = *at++ == '-';
  at = after_prefix(at, &base);
  const char* first = at;
  for (; digit_value(*at) < base; at++) {
    number.overflow |= __builtin_mul_overflow(number.magnitude, (unsigned long long)base, &number.magnitude);
    number.overflow |=
        __builtin_add_overflow(number.magnitude, (unsigned long long)digit_value(*at), &number.magnitude);
  }
  if (end != NULL && at != first) *end = (char*)at;
  return number;
}

JANUS_C_DEFINE unsigned long long strtoull(const char* restrict text, char** restrict end, int base) {
  const struct number number = parse(text, end, base);
  if (number.overflow) {
    errno = ERANGE;
    return ULLONG_MAX;
  }
  return number.negative ? 0 - number.magnitude : number.magnitude;
}

JANUS_C_DEFINE long long strtoll(const char* restrict text, char** restrict end, int base) {
  const struct number number = parse(text, end, base);
  const unsigned long long most = (unsigned long long)LLONG_MAX + (unsigned)number.negative;
  if (number.overflow || number.magnitude > most) {
    errno = ERANGE;
    return number.negative ? LLONG_MIN : LLONG_MAX;
  }
  return (long long)(number.negative ? 0 - number.magnitude : number.magnitude);
}

// The functions for long and intmax_t call those for long long.
_Static_assert(LONG_MAX == LLONG_MAX && INTMAX_MAX == LLONG_MAX, "one parser serves all of them");

JANUS_C_DEFINE long strtol(const char* restrict text, char** restrict end, int base) {
  return (long)strtoll(text, end, base);
}
JANUS_C_DEFINE unsigned long strtoul(const char* restrict text, char** restrict end, int base) {
  return (unsigned long)strtoull(text, end, base);
}
JANUS_C_DEFINE intmax_t strtoimax(const char* restrict text, char** restrict end, int base) {
  return (intmax_t)strtoll(text, end, base);
}
JANUS_C_DEFINE uintmax_t strtoumax(const char* restrict text, char** restrict end, int base) {
  return (uintmax_t)strtoull(text, end, base);
}

JANUS_C_DEFINE int atoi(const char* text) {
  return (int)strtol(text, NULL, 10);
}
JANUS_C_DEFINE long atol(const char* text) {
  return strtol(text, NULL, 10);
}
JANUS_C_DEFINE long long atoll(const char* text) {
  return strtoll(text, NULL, 10);
}

JANUS_C_DEFINE int abs(int value) {
  return value < 0 ? -value : value;
}
JANUS_C_DEFINE long labs(long value) {
  return value < 0 ? -value : value;
}
JANUS_C_DEFINE long long llabs(long long value) {
  return value < 0 ? -value : value;
}
JANUS_C_DEFINE intmax_t imaxabs(intmax_t value) {
  return value < 0 ? -value : value;
}

JANUS_C_DEFINE div_t div(int dividend, int divisor) {
  return (div_t){dividend / divisor, dividend % divisor};
}
JANUS_C_DEFINE ldiv_t ldiv(long dividend, long divisor) {
  return (ldiv_t){dividend / divisor, dividend % divisor};
}
JANUS_C_DEFINE lldiv_t lldiv(long long dividend, long long divisor) {
  return (lldiv_t){dividend / divisor, dividend % divisor};
}
JANUS_C_DEFINE imaxdiv_t imaxdiv(intmax_t dividend, intmax_t divisor) {
  return (imaxdiv_t){dividend / divisor, dividend % divisor};
}
