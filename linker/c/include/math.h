// SPDX-License-Identifier: Apache-2.0
// math.h: mathematical functions are not in this library. The headers of libstdc++ mention them by name, so C++ gets
// their declarations. A program links only if the compiler expands all that it uses, such as fabs. docs/decisions/0266
#ifndef __cplusplus
// This header is never found: so the compilation ends, with one line.
#include <janus-rt has no mathematical functions yet: link a library that has those you need, and declare them>
#endif
#ifndef JANUS_C_MATH_H
#define JANUS_C_MATH_H
#include <sys/cdefs.h>

#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define HUGE_VALL __builtin_huge_vall()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
#define FP_ILOGB0 (-2147483647 - 1)
#define FP_ILOGBNAN (-2147483647 - 1)
#define MATH_ERRNO 1
#define MATH_ERREXCEPT 2
#define math_errhandling 0
#define M_E 2.7182818284590452354
#define M_PI 3.14159265358979323846
#define M_SQRT2 1.41421356237309504880

// Macros, which libstdc++ undefines again for its own functions.
#define fpclassify(x) __builtin_fpclassify(FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO, x)
#define isfinite(x) __builtin_isfinite(x)
#define isinf(x) __builtin_isinf(x)
#define isnan(x) __builtin_isnan(x)
#define isnormal(x) __builtin_isnormal(x)
#define signbit(x) __builtin_signbit(x)
#define isgreater(x, y) __builtin_isgreater(x, y)
#define isgreaterequal(x, y) __builtin_isgreaterequal(x, y)
#define isless(x, y) __builtin_isless(x, y)
#define islessequal(x, y) __builtin_islessequal(x, y)
#define islessgreater(x, y) __builtin_islessgreater(x, y)
#define isunordered(x, y) __builtin_isunordered(x, y)

typedef float float_t;
typedef double double_t;

__BEGIN_DECLS
double acos(double x);
double asin(double x);
double atan(double x);
double cos(double x);
double sin(double x);
double tan(double x);
double cosh(double x);
double sinh(double x);
double tanh(double x);
double exp(double x);
double log(double x);
double log10(double x);
double sqrt(double x);
double ceil(double x);
double fabs(double x);
double floor(double x);
double acosh(double x);
double asinh(double x);
double atanh(double x);
double cbrt(double x);
double erf(double x);
double erfc(double x);
double exp2(double x);
double expm1(double x);
double lgamma(double x);
double log1p(double x);
double log2(double x);
double logb(double x);
double nearbyint(double x);
double rint(double x);
double round(double x);
double tgamma(double x);
double trunc(double x);
double atan2(double x, double y);
double fmod(double x, double y);
double pow(double x, double y);
double copysign(double x, double y);
double fdim(double x, double y);
double fmax(double x, double y);
double fmin(double x, double y);
double hypot(double x, double y);
double nextafter(double x, double y);
double remainder(double x, double y);
double fma(double x, double y, double z);
double frexp(double x, int* exponent);
double ldexp(double x, int exponent);
double modf(double x, double* whole);
double nan(const char* tag);
double nexttoward(double x, long double y);
double remquo(double x, double y, int* quotient);
double scalbn(double x, int exponent);
double scalbln(double x, long exponent);
int ilogb(double x);
long lrint(double x);
long lround(double x);
long long llrint(double x);
long long llround(double x);
float acosf(float x);
float asinf(float x);
float atanf(float x);
float cosf(float x);
float sinf(float x);
float tanf(float x);
float coshf(float x);
float sinhf(float x);
float tanhf(float x);
float expf(float x);
float logf(float x);
float log10f(float x);
float sqrtf(float x);
float ceilf(float x);
float fabsf(float x);
float floorf(float x);
float acoshf(float x);
float asinhf(float x);
float atanhf(float x);
float cbrtf(float x);
float erff(float x);
float erfcf(float x);
float exp2f(float x);
float expm1f(float x);
float lgammaf(float x);
float log1pf(float x);
float log2f(float x);
float logbf(float x);
float nearbyintf(float x);
float rintf(float x);
float roundf(float x);
float tgammaf(float x);
float truncf(float x);
float atan2f(float x, float y);
float fmodf(float x, float y);
float powf(float x, float y);
float copysignf(float x, float y);
float fdimf(float x, float y);
float fmaxf(float x, float y);
float fminf(float x, float y);
float hypotf(float x, float y);
float nextafterf(float x, float y);
float remainderf(float x, float y);
float fmaf(float x, float y, float z);
float frexpf(float x, int* exponent);
float ldexpf(float x, int exponent);
float modff(float x, float* whole);
float nanf(const char* tag);
float nexttowardf(float x, long double y);
float remquof(float x, float y, int* quotient);
float scalbnf(float x, int exponent);
float scalblnf(float x, long exponent);
int ilogbf(float x);
long lrintf(float x);
long lroundf(float x);
long long llrintf(float x);
long long llroundf(float x);
long double acosl(long double x);
long double asinl(long double x);
long double atanl(long double x);
long double cosl(long double x);
long double sinl(long double x);
long double tanl(long double x);
long double coshl(long double x);
long double sinhl(long double x);
long double tanhl(long double x);
long double expl(long double x);
long double logl(long double x);
long double log10l(long double x);
long double sqrtl(long double x);
long double ceill(long double x);
long double fabsl(long double x);
long double floorl(long double x);
long double acoshl(long double x);
long double asinhl(long double x);
long double atanhl(long double x);
long double cbrtl(long double x);
long double erfl(long double x);
long double erfcl(long double x);
long double exp2l(long double x);
long double expm1l(long double x);
long double lgammal(long double x);
long double log1pl(long double x);
long double log2l(long double x);
long double logbl(long double x);
long double nearbyintl(long double x);
long double rintl(long double x);
long double roundl(long double x);
long double tgammal(long double x);
long double truncl(long double x);
long double atan2l(long double x, long double y);
long double fmodl(long double x, long double y);
long double powl(long double x, long double y);
long double copysignl(long double x, long double y);
long double fdiml(long double x, long double y);
long double fmaxl(long double x, long double y);
long double fminl(long double x, long double y);
long double hypotl(long double x, long double y);
long double nextafterl(long double x, long double y);
long double remainderl(long double x, long double y);
long double fmal(long double x, long double y, long double z);
long double frexpl(long double x, int* exponent);
long double ldexpl(long double x, int exponent);
long double modfl(long double x, long double* whole);
long double nanl(const char* tag);
long double nexttowardl(long double x, long double y);
long double remquol(long double x, long double y, int* quotient);
long double scalbnl(long double x, int exponent);
long double scalblnl(long double x, long exponent);
int ilogbl(long double x);
long lrintl(long double x);
long lroundl(long double x);
long long llrintl(long double x);
long long llroundl(long double x);
__END_DECLS
#endif
