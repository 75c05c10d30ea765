// SPDX-License-Identifier: Apache-2.0
// stdlib.h: memory, numbers, sorting, the environment, the end of the program.
#ifndef JANUS_C_STDLIB_H
#define JANUS_C_STDLIB_H
#define __need_size_t
#define __need_wchar_t
#define __need_NULL
#include <stddef.h>
#include <sys/cdefs.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647

typedef struct {
  int quot, rem;
} div_t;
typedef struct {
  long quot, rem;
} ldiv_t;
typedef struct {
  long long quot, rem;
} lldiv_t;

__BEGIN_DECLS
void* malloc(size_t bytes) __JANUS_NOTHROW __JANUS_MALLOC;
void* calloc(size_t count, size_t bytes) __JANUS_NOTHROW __JANUS_MALLOC;
void* realloc(void* block, size_t bytes) __JANUS_NOTHROW __attribute__((__warn_unused_result__));
void* reallocarray(void* block, size_t count, size_t bytes) __JANUS_NOTHROW __attribute__((__warn_unused_result__));
void free(void* block) __JANUS_NOTHROW;
void* aligned_alloc(size_t alignment, size_t bytes) __JANUS_NOTHROW __JANUS_MALLOC;
int posix_memalign(void** block, size_t alignment, size_t bytes) __JANUS_NOTHROW;

int atoi(const char* text) __JANUS_NOTHROW;
long atol(const char* text) __JANUS_NOTHROW;
long long atoll(const char* text) __JANUS_NOTHROW;
long strtol(const char* __JANUS_RESTRICT text, char** __JANUS_RESTRICT end, int base) __JANUS_NOTHROW;
unsigned long strtoul(const char* __JANUS_RESTRICT text, char** __JANUS_RESTRICT end, int base) __JANUS_NOTHROW;
long long strtoll(const char* __JANUS_RESTRICT text, char** __JANUS_RESTRICT end, int base) __JANUS_NOTHROW;
unsigned long long strtoull(const char* __JANUS_RESTRICT text, char** __JANUS_RESTRICT end, int base) __JANUS_NOTHROW;

int abs(int value) __JANUS_NOTHROW;
long labs(long value) __JANUS_NOTHROW;
long long llabs(long long value) __JANUS_NOTHROW;
div_t div(int dividend, int divisor) __JANUS_NOTHROW;
ldiv_t ldiv(long dividend, long divisor) __JANUS_NOTHROW;
lldiv_t lldiv(long long dividend, long long divisor) __JANUS_NOTHROW;

void qsort(void* items, size_t count, size_t bytes, int (*compare)(const void*, const void*));
void* bsearch(const void* key, const void* items, size_t count, size_t bytes, int (*compare)(const void*, const void*));
int rand(void) __JANUS_NOTHROW;
void srand(unsigned seed) __JANUS_NOTHROW;
int rand_r(unsigned* state) __JANUS_NOTHROW;

char* getenv(const char* name) __JANUS_NOTHROW;

__JANUS_NORETURN void abort(void) __JANUS_NOTHROW;
__JANUS_NORETURN void exit(int status);
__JANUS_NORETURN void _Exit(int status) __JANUS_NOTHROW;
int atexit(void (*function)(void)) __JANUS_NOTHROW;

#ifdef __cplusplus
// Names in the headers of libstdc++. Declared, not defined: a program that uses one does not link.
double atof(const char* text);
double strtod(const char* text, char** end);
float strtof(const char* text, char** end);
long double strtold(const char* text, char** end);
int mblen(const char* bytes, size_t count);
int mbtowc(wchar_t* to, const char* bytes, size_t count);
int wctomb(char* to, wchar_t c);
size_t mbstowcs(wchar_t* to, const char* from, size_t count);
size_t wcstombs(char* to, const wchar_t* from, size_t count);
int system(const char* command);
int at_quick_exit(void (*function)(void));
__JANUS_NORETURN void quick_exit(int status);
#endif
__END_DECLS
#endif
