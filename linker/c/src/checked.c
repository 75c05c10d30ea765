// SPDX-License-Identifier: Apache-2.0
// checked.c: the functions that code compiled against a hardened libc calls: they get the size of the target, and panic
// the task before anything is written past it. Also the function that the compiler's stack protector calls.
#include <fcntl.h>
#include <janus/rt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "linker/c/src/define.h"

// Compilers and hardened objects call these functions, which no header declares.
__attribute__((__noreturn__)) void __chk_fail(void);
__attribute__((__noreturn__)) void __stack_chk_fail(void);
void* __memcpy_chk(void* to, const void* from, size_t count, size_t room);
void* __memmove_chk(void* to, const void* from, size_t count, size_t room);
void* __mempcpy_chk(void* to, const void* from, size_t count, size_t room);
void* __memset_chk(void* bytes, int value, size_t count, size_t room);
void __explicit_bzero_chk(void* bytes, size_t count, size_t room);
char* __strcpy_chk(char* to, const char* from, size_t room);
char* __stpcpy_chk(char* to, const char* from, size_t room);
char* __strncpy_chk(char* to, const char* from, size_t count, size_t room);
char* __stpncpy_chk(char* to, const char* from, size_t count, size_t room);
char* __strcat_chk(char* to, const char* from, size_t room);
char* __strncat_chk(char* to, const char* from, size_t count, size_t room);
int __snprintf_chk(char* to, size_t size, int flag, size_t room, const char* format, ...);
int __vsnprintf_chk(char* to, size_t size, int flag, size_t room, const char* format, va_list values);
int __sprintf_chk(char* to, int flag, size_t room, const char* format, ...);
int __vsprintf_chk(char* to, int flag, size_t room, const char* format, va_list values);
int __printf_chk(int flag, const char* format, ...);
int __vprintf_chk(int flag, const char* format, va_list values);
int __fprintf_chk(FILE* file, int flag, const char* format, ...);
int __vfprintf_chk(FILE* file, int flag, const char* format, va_list values);
char* __fgets_chk(char* to, size_t room, int size, FILE* file);
size_t __fread_chk(void* to, size_t room, size_t size, size_t count, FILE* file);
ssize_t __read_chk(int fd, void* bytes, size_t count, size_t room);
int __open_2(const char* path, int flags);
int __open64_2(const char* path, int flags);

JANUS_C_DEFINE void __chk_fail(void) {
  janus_task_panic("buffer overflow detected");
}
JANUS_C_DEFINE void __stack_chk_fail(void) {
  janus_task_panic("stack smashing detected");
}

static void must_fit(size_t count, size_t room) {
  if (count > room) __chk_fail();
}

JANUS_C_DEFINE void* __memcpy_chk(void* to, const void* from, size_t count, size_t room) {
  must_fit(count, room);
  return memcpy(to, from, count);
}

JANUS_C_DEFINE void* __memmove_chk(void* to, const void* from, size_t count, size_t room) {
  must_fit(count, room);
  return memmove(to, from, count);
}

JANUS_C_DEFINE void* __mempcpy_chk(void* to, const void* from, size_t count, size_t room) {
  must_fit(count, room);
  return mempcpy(to, from, count);
}

JANUS_C_DEFINE void* __memset_chk(void* bytes, int value, size_t count, size_t room) {
  must_fit(count, room);
  return memset(bytes, value, count);
}

JANUS_C_DEFINE void __explicit_bzero_chk(void* bytes, size_t count, size_t room) {
  must_fit(count, room);
  explicit_bzero(bytes, count);
}

JANUS_C_DEFINE char* __stpcpy_chk(char* to, const char* from, size_t room) {
  const size_t length = strlen(from);
  must_fit(length + 1, room);
  memcpy(to, from, length + 1);
  return to + length;
}

JANUS_C_DEFINE char* __strcpy_chk(char* to, const char* from, size_t room) {
  __stpcpy_chk(to, from, room);
  return to;
}

JANUS_C_DEFINE char* __stpncpy_chk(char* to, const char* from, size_t count, size_t room) {
  must_fit(count, room);
  return stpncpy(to, from, count);
}

JANUS_C_DEFINE char* __strncpy_chk(char* to, const char* from, size_t count, size_t room) {
  must_fit(count, room);
  return strncpy(to, from, count);
}

JANUS_C_DEFINE char* __strncat_chk(char* to, const char* from, size_t count, size_t room) {
  must_fit(strlen(to) + strnlen(from, count) + 1, room);
  return strncat(to, from, count);
}

JANUS_C_DEFINE char* __strcat_chk(char* to, const char* from, size_t room) {
  return __strncat_chk(to, from, SIZE_MAX, room);
}

JANUS_C_DEFINE int __vsnprintf_chk(char* to, size_t size, int flag, size_t room, const char* format, va_list values) {
  (void)flag;
  must_fit(size, room);
  return vsnprintf(to, size, format, values);
}

JANUS_C_DEFINE int __snprintf_chk(char* to, size_t size, int flag, size_t room, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int length = __vsnprintf_chk(to, size, flag, room, format, values);
  va_end(values);
  return length;
}

JANUS_C_DEFINE int __vsprintf_chk(char* to, int flag, size_t room, const char* format, va_list values) {
  (void)flag;
  const int length = vsnprintf(to, room < INT_MAX ? room : INT_MAX, format, values);
  if (length >= 0) must_fit((size_t)length + 1, room);
  return length;
}

JANUS_C_DEFINE int __sprintf_chk(char* to, int flag, size_t room, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int length = __vsprintf_chk(to, flag, room, format, values);
  va_end(values);
  return length;
}

JANUS_C_DEFINE int __vfprintf_chk(FILE* file, int flag, const char* format, va_list values) {
  (void)flag;
  return vfprintf(file, format, values);
}

JANUS_C_DEFINE int __fprintf_chk(FILE* file, int flag, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int length = __vfprintf_chk(file, flag, format, values);
  va_end(values);
  return length;
}

JANUS_C_DEFINE int __vprintf_chk(int flag, const char* format, va_list values) {
  return __vfprintf_chk(stdout, flag, format, values);
}

JANUS_C_DEFINE int __printf_chk(int flag, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int length = __vprintf_chk(flag, format, values);
  va_end(values);
  return length;
}

JANUS_C_DEFINE char* __fgets_chk(char* to, size_t room, int size, FILE* file) {
  if (size > 0) must_fit((size_t)size, room);
  return fgets(to, size, file);
}

JANUS_C_DEFINE size_t __fread_chk(void* to, size_t room, size_t size, size_t count, FILE* file) {
  size_t bytes;
  must_fit(__builtin_mul_overflow(size, count, &bytes) ? SIZE_MAX : bytes, room);
  return fread(to, size, count, file);
}

JANUS_C_DEFINE ssize_t __read_chk(int fd, void* bytes, size_t count, size_t room) {
  must_fit(count, room);
  return read(fd, bytes, count);
}

// Hardened code calls this for an open() without a mode, which a call that creates a file needs.
JANUS_C_DEFINE int __open_2(const char* path, int flags) {
  if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) __chk_fail();
  return open(path, flags);
}

JANUS_C_DEFINE int __open64_2(const char* path, int flags) {
  return __open_2(path, flags);
}
