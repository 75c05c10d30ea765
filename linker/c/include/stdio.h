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
int snprintf(char* __JANUS_RESTRICT to, size_t size, const char* __JANUS_RESTRICT format, ...) __JANUS_NOTHROW
    __JANUS_PRINTF(3, 4);
int vsnprintf(char* __JANUS_RESTRICT to, size_t size, const char* __JANUS_RESTRICT format,
              va_list values) __JANUS_NOTHROW __JANUS_PRINTF(3, 0);
int sprintf(char* __JANUS_RESTRICT to, const char* __JANUS_RESTRICT format, ...) __JANUS_NOTHROW __JANUS_PRINTF(2, 3);
int vsprintf(char* __JANUS_RESTRICT to, const char* __JANUS_RESTRICT format, va_list values) __JANUS_NOTHROW
    __JANUS_PRINTF(2, 0);

#ifdef __cplusplus
// What the headers of libstdc++ mention by name. Declared, not defined: a program that uses one does not link.
typedef struct __janus_file FILE;
typedef struct {
  long offset;
} fpos_t;
#define BUFSIZ 1024
void clearerr(FILE* file);
int fclose(FILE* file);
int feof(FILE* file);
int ferror(FILE* file);
int fflush(FILE* file);
int fgetc(FILE* file);
int fgetpos(FILE* file, fpos_t* position);
char* fgets(char* to, int size, FILE* file);
FILE* fopen(const char* path, const char* mode);
int fprintf(FILE* file, const char* format, ...);
int fputc(int c, FILE* file);
int fputs(const char* text, FILE* file);
size_t fread(void* to, size_t size, size_t count, FILE* file);
FILE* freopen(const char* path, const char* mode, FILE* file);
int fscanf(FILE* file, const char* format, ...);
int fseek(FILE* file, long offset, int whence);
int fsetpos(FILE* file, const fpos_t* position);
long ftell(FILE* file);
size_t fwrite(const void* from, size_t size, size_t count, FILE* file);
int getc(FILE* file);
int getchar(void);
void perror(const char* text);
int printf(const char* format, ...);
int putc(int c, FILE* file);
int putchar(int c);
int puts(const char* text);
int remove(const char* path);
int rename(const char* from, const char* to);
void rewind(FILE* file);
int scanf(const char* format, ...);
void setbuf(FILE* file, char* buffer);
int setvbuf(FILE* file, char* buffer, int mode, size_t size);
int sscanf(const char* text, const char* format, ...);
FILE* tmpfile(void);
char* tmpnam(char* name);
int ungetc(int c, FILE* file);
int vfprintf(FILE* file, const char* format, va_list values);
int vfscanf(FILE* file, const char* format, va_list values);
int vprintf(const char* format, va_list values);
int vscanf(const char* format, va_list values);
int vsscanf(const char* text, const char* format, va_list values);
#endif
__END_DECLS
#endif
