// SPDX-License-Identifier: Apache-2.0
// round.c: the two functions of math.h that headers of the C++ library call for hash tables. There are no others here.
#include <stdint.h>

#include "linker/c/src/define.h"

double ceil(double x);
double floor(double x);

// From here on every double is whole; also true of infinities, and no number compares with what is none.
static const double kAllWhole = 4503599627370496.0;

// Towards zero, with the sign of `x` even where that is all that is left.
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
