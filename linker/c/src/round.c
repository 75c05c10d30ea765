// SPDX-License-Identifier: Apache-2.0
// round.c: ceil and floor, the only functions of math.h here: headers of the C++ library call them for hash tables.
#include <stdint.h>

#include "linker/c/src/define.h"

double ceil(double x);
double floor(double x);

// Every double from 2^52 on is whole, infinity included; a NaN fails every comparison.
static const double kAllWhole = 4503599627370496.0;

// Rounds towards zero; a result of zero keeps the sign of `x`.
static double truncated(double x) {
  if (!(__builtin_fabs(x) < kAllWhole)) return x;
  return __builtin_copysign((double)(int64_t)x, x);
}

JANUS_C_DEFINE double ceil(double x) {
  const double whole = truncated(x);
  return whole < x ? whole + 1 : whole;
}

JANUS_C_DEFINE double floor(double x) {
  const double whole = truncated(x);
  return whole > x ? whole - 1 : whole;
}
