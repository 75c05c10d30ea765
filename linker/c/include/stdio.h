// SPDX-License-Identifier: Apache-2.0
// stdio.h: formatting into memory. There are no streams: janus_print and janus_write put text out.
#ifndef JANUS_C_STDIO_H
#define JANUS_C_STDIO_H
#include <stdarg.h>
#define __need_size_t
#define __need_NULL
#include <stddef.h>
#include <sys/cdefs.h>

#define EOF (-1)
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2

__BEGIN_DECLS
// Integer, character, string and pointer formats. %f and its kin print "(float)": no floating point here.
int snprintf(char *__JANUS_RESTRICT to, size_t size, const char *__JANUS_RESTRICT format, ...) __JANUS_NOTHROW
    __JANUS_PRINTF(3, 4);
int vsnprintf(char *__JANUS_RESTRICT to, size_t size, const char *__JANUS_RESTRICT format, va_list values)
    __JANUS_NOTHROW __JANUS_PRINTF(3, 0);
int sprintf(char *__JANUS_RESTRICT to, const char *__JANUS_RESTRICT format, ...) __JANUS_NOTHROW __JANUS_PRINTF(2, 3);
int vsprintf(char *__JANUS_RESTRICT to, const char *__JANUS_RESTRICT format, va_list values) __JANUS_NOTHROW
    __JANUS_PRINTF(2, 0);
__END_DECLS
#endif
