// SPDX-License-Identifier: Apache-2.0
// stdio.h: formatting, and streams over the kernel's files. Input is buffered. Output is not: each call writes one
// piece, so lines of two tasks do not mix, and nothing waits for a flush.
#ifndef JANUS_C_STDIO_H
#define JANUS_C_STDIO_H
#include <stdarg.h>
#define __need_size_t
#define __need_NULL
#include <stddef.h>
#include <sys/cdefs.h>
#include <sys/types.h>

#define EOF (-1)
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2
#define BUFSIZ 1024
#define FILENAME_MAX 4096
#define FOPEN_MAX 16

typedef struct __janus_file FILE;
typedef struct {
  off_t offset;
} fpos_t;

__BEGIN_DECLS
extern FILE *stdin, *stdout, *stderr;
#define stdin stdin
#define stdout stdout
#define stderr stderr

// As C defines them; a long double is printed as the nearest double.
int snprintf(char* __JANUS_RESTRICT to, size_t size, const char* __JANUS_RESTRICT format, ...) __JANUS_NOTHROW
    __JANUS_PRINTF(3, 4);
int vsnprintf(char* __JANUS_RESTRICT to, size_t size, const char* __JANUS_RESTRICT format,
              va_list values) __JANUS_NOTHROW __JANUS_PRINTF(3, 0);
int sprintf(char* __JANUS_RESTRICT to, const char* __JANUS_RESTRICT format, ...) __JANUS_NOTHROW __JANUS_PRINTF(2, 3);
int vsprintf(char* __JANUS_RESTRICT to, const char* __JANUS_RESTRICT format, va_list values) __JANUS_NOTHROW
    __JANUS_PRINTF(2, 0);
int printf(const char* __JANUS_RESTRICT format, ...) __JANUS_PRINTF(1, 2);
int vprintf(const char* __JANUS_RESTRICT format, va_list values) __JANUS_PRINTF(1, 0);
int fprintf(FILE* __JANUS_RESTRICT file, const char* __JANUS_RESTRICT format, ...) __JANUS_PRINTF(2, 3);
int vfprintf(FILE* __JANUS_RESTRICT file, const char* __JANUS_RESTRICT format, va_list values) __JANUS_PRINTF(2, 0);

FILE* fopen(const char* __JANUS_RESTRICT path, const char* __JANUS_RESTRICT mode);
FILE* fdopen(int fd, const char* mode);
int fclose(FILE* file);
int fflush(FILE* file);
int fileno(FILE* file) __JANUS_NOTHROW;
int feof(FILE* file) __JANUS_NOTHROW;
int ferror(FILE* file) __JANUS_NOTHROW;
void clearerr(FILE* file) __JANUS_NOTHROW;
// Returns 0 only for _IONBF: output is never buffered.
int setvbuf(FILE* __JANUS_RESTRICT file, char* __JANUS_RESTRICT buffer, int mode, size_t size) __JANUS_NOTHROW;
void setbuf(FILE* __JANUS_RESTRICT file, char* __JANUS_RESTRICT buffer) __JANUS_NOTHROW;

size_t fread(void* __JANUS_RESTRICT to, size_t size, size_t count, FILE* __JANUS_RESTRICT file);
char* fgets(char* __JANUS_RESTRICT to, int size, FILE* __JANUS_RESTRICT file);
int fgetc(FILE* file);
int getc(FILE* file);
int getchar(void);
int ungetc(int c, FILE* file);

// Returns `count`, or 0 on any failure: items that were written before it are not counted.
size_t fwrite(const void* __JANUS_RESTRICT from, size_t size, size_t count, FILE* __JANUS_RESTRICT file);
int fputs(const char* __JANUS_RESTRICT text, FILE* __JANUS_RESTRICT file);
int fputc(int c, FILE* file);
int putc(int c, FILE* file);
int putchar(int c);
int puts(const char* text);
void perror(const char* text);

int fseek(FILE* file, long offset, int whence);
int fseeko(FILE* file, off_t offset, int whence);
long ftell(FILE* file);
off_t ftello(FILE* file);
void rewind(FILE* file);
int fgetpos(FILE* __JANUS_RESTRICT file, fpos_t* __JANUS_RESTRICT position);
int fsetpos(FILE* file, const fpos_t* position);

int remove(const char* path) __JANUS_NOTHROW;
int rename(const char* from, const char* to) __JANUS_NOTHROW;

#ifdef __cplusplus
// Names in the headers of libstdc++. Declared, not defined: a program that uses one does not link.
FILE* freopen(const char* path, const char* mode, FILE* file);
#if __cplusplus < 201402L
char* gets(char* to);
#endif
int fscanf(FILE* file, const char* format, ...);
int scanf(const char* format, ...);
int sscanf(const char* text, const char* format, ...);
FILE* tmpfile(void);
char* tmpnam(char* name);
int vfscanf(FILE* file, const char* format, va_list values);
int vscanf(const char* format, va_list values);
int vsscanf(const char* text, const char* format, va_list values);
#endif
__END_DECLS
#endif
