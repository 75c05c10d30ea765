// SPDX-License-Identifier: Apache-2.0
// wchar.h: wide characters are not in this library. The headers of libstdc++ mention them by name, so C++
// gets their declarations; a program that uses one does not link.
#ifndef __cplusplus
#error "wchar.h: wide characters are not in the small C library of janus-rt"
#endif
#ifndef JANUS_C_WCHAR_H
#define JANUS_C_WCHAR_H
#include <stdarg.h>
#define __need_size_t
#define __need_wchar_t
#define __need_wint_t
#define __need_NULL
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/cdefs.h>
#include <time.h>

#define WEOF 0xffffffffU

typedef struct {
  unsigned state[2];
} mbstate_t;

__BEGIN_DECLS
wint_t btowc(int c);
wint_t fgetwc(FILE* file);
wchar_t* fgetws(wchar_t* to, int size, FILE* file);
wint_t fputwc(wchar_t c, FILE* file);
int fputws(const wchar_t* text, FILE* file);
int fwide(FILE* file, int mode);
int fwprintf(FILE* file, const wchar_t* format, ...);
int fwscanf(FILE* file, const wchar_t* format, ...);
wint_t getwc(FILE* file);
wint_t getwchar(void);
size_t mbrlen(const char* bytes, size_t count, mbstate_t* state);
size_t mbrtowc(wchar_t* to, const char* bytes, size_t count, mbstate_t* state);
int mbsinit(const mbstate_t* state);
size_t mbsrtowcs(wchar_t* to, const char** from, size_t count, mbstate_t* state);
wint_t putwc(wchar_t c, FILE* file);
wint_t putwchar(wchar_t c);
int swprintf(wchar_t* to, size_t size, const wchar_t* format, ...);
int swscanf(const wchar_t* text, const wchar_t* format, ...);
wint_t ungetwc(wint_t c, FILE* file);
int vfwprintf(FILE* file, const wchar_t* format, va_list values);
int vfwscanf(FILE* file, const wchar_t* format, va_list values);
int vswprintf(wchar_t* to, size_t size, const wchar_t* format, va_list values);
int vswscanf(const wchar_t* text, const wchar_t* format, va_list values);
int vwprintf(const wchar_t* format, va_list values);
int vwscanf(const wchar_t* format, va_list values);
size_t wcrtomb(char* to, wchar_t c, mbstate_t* state);
wchar_t* wcscat(wchar_t* to, const wchar_t* from);
wchar_t* wcschr(const wchar_t* text, wchar_t c);
int wcscmp(const wchar_t* left, const wchar_t* right);
int wcscoll(const wchar_t* left, const wchar_t* right);
wchar_t* wcscpy(wchar_t* to, const wchar_t* from);
size_t wcscspn(const wchar_t* text, const wchar_t* rejected);
size_t wcsftime(wchar_t* to, size_t size, const wchar_t* format, const struct tm* parts);
size_t wcslen(const wchar_t* text);
wchar_t* wcsncat(wchar_t* to, const wchar_t* from, size_t count);
int wcsncmp(const wchar_t* left, const wchar_t* right, size_t count);
wchar_t* wcsncpy(wchar_t* to, const wchar_t* from, size_t count);
wchar_t* wcspbrk(const wchar_t* text, const wchar_t* accepted);
wchar_t* wcsrchr(const wchar_t* text, wchar_t c);
size_t wcsrtombs(char* to, const wchar_t** from, size_t count, mbstate_t* state);
size_t wcsspn(const wchar_t* text, const wchar_t* accepted);
wchar_t* wcsstr(const wchar_t* text, const wchar_t* needle);
double wcstod(const wchar_t* text, wchar_t** end);
float wcstof(const wchar_t* text, wchar_t** end);
long double wcstold(const wchar_t* text, wchar_t** end);
wchar_t* wcstok(wchar_t* text, const wchar_t* separators, wchar_t** rest);
long wcstol(const wchar_t* text, wchar_t** end, int base);
unsigned long wcstoul(const wchar_t* text, wchar_t** end, int base);
long long wcstoll(const wchar_t* text, wchar_t** end, int base);
unsigned long long wcstoull(const wchar_t* text, wchar_t** end, int base);
size_t wcsxfrm(wchar_t* to, const wchar_t* from, size_t count);
int wctob(wint_t c);
wchar_t* wmemchr(const wchar_t* text, wchar_t c, size_t count);
int wmemcmp(const wchar_t* left, const wchar_t* right, size_t count);
wchar_t* wmemcpy(wchar_t* to, const wchar_t* from, size_t count);
wchar_t* wmemmove(wchar_t* to, const wchar_t* from, size_t count);
wchar_t* wmemset(wchar_t* text, wchar_t c, size_t count);
int wprintf(const wchar_t* format, ...);
int wscanf(const wchar_t* format, ...);
__END_DECLS
#endif
