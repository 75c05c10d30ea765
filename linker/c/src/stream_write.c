// SPDX-License-Identifier: Apache-2.0
// stream_write.c: writing to streams. Each call passes the runtime one piece, so that lines of two tasks do not mix.
#include <errno.h>
#include <janus/rt.h>
#include <stdarg.h>
#include <string.h>

#include "linker/c/src/answer.h"
#include "linker/c/src/define.h"
#include "linker/c/src/stream.h"

// Writes one piece. Returns 0, or EOF with the stream's error set.
static int put(FILE* file, const void* bytes, size_t count) {
  if (!(file->mode & kWrites)) return janus_stream_fail(file, EBADF);
  if (file->mode & kReads) {
    // The bytes go to the position up to which the program has read, not to the end of what was read ahead.
    if (!janus_stream_lock(file)) return EOF;
    janus_stream_forget_ahead(file);
    janus_stream_unlock(file);
  }
  if (janus_c_answer(janus_write(file->fd, bytes, count)) == 0) return 0;
  return janus_stream_fail(file, errno);
}

JANUS_C_DEFINE size_t fwrite(const void* restrict from, size_t size, size_t count, FILE* restrict file) {
  size_t bytes;
  if (__builtin_mul_overflow(size, count, &bytes)) {
    janus_stream_fail(file, EOVERFLOW);
    return 0;
  }
  if (bytes == 0) return 0;
  return put(file, from, bytes) == 0 ? count : 0;
}

JANUS_C_DEFINE int fputs(const char* restrict text, FILE* restrict file) {
  return put(file, text, strlen(text));
}

JANUS_C_DEFINE int fputc(int c, FILE* file) {
  const unsigned char byte = (unsigned char)c;
  return put(file, &byte, 1) == 0 ? byte : EOF;
}
JANUS_C_DEFINE int putc(int c, FILE* file) {
  return fputc(c, file);
}
JANUS_C_DEFINE int putchar(int c) {
  return fputc(c, stdout);
}

// The text and its newline are written as one piece. Does not use printf: most small programs would link the formatting
// code for this alone.
JANUS_C_DEFINE int puts(const char* text) {
  char line[256];
  const size_t length = strlen(text);
  char* piece = length < sizeof line ? line : janus_alloc(length + 1);
  if (piece == NULL) return janus_stream_fail(stdout, ENOMEM);
  memcpy(piece, text, length);
  piece[length] = '\n';
  const int result = put(stdout, piece, length + 1);
  if (piece != line) janus_free(piece);
  return result;
}

// --- Formats

// Formats text that does not fit into vfprintf's buffer on the heap, because stacks of tasks are small.
static int put_long(FILE* file, size_t length, const char* format, va_list values) {
  char* text = janus_alloc(length + 1);
  if (text == NULL) return janus_stream_fail(file, ENOMEM);
  vsnprintf(text, length + 1, format, values);
  const int result = put(file, text, length);
  janus_free(text);
  return result;
}

JANUS_C_DEFINE int vfprintf(FILE* restrict file, const char* restrict format, va_list values) {
  char line[256];
  va_list again;
  va_copy(again, values);
  const int length = vsnprintf(line, sizeof line, format, values);
  int result = EOF;
  if (length >= 0) {
    const size_t bytes = (size_t)length;
    result = bytes < sizeof line ? put(file, line, bytes) : put_long(file, bytes, format, again);
  }
  va_end(again);
  return result < 0 ? -1 : length;
}

JANUS_C_DEFINE int fprintf(FILE* restrict file, const char* restrict format, ...) {
  va_list values;
  va_start(values, format);
  const int length = vfprintf(file, format, values);
  va_end(values);
  return length;
}

JANUS_C_DEFINE int vprintf(const char* restrict format, va_list values) {
  return vfprintf(stdout, format, values);
}

JANUS_C_DEFINE int printf(const char* restrict format, ...) {
  va_list values;
  va_start(values, format);
  const int length = vfprintf(stdout, format, values);
  va_end(values);
  return length;
}

JANUS_C_DEFINE void perror(const char* text) {
  const char* why = strerror(errno);
  if (text == NULL || *text == '\0')
    fprintf(stderr, "%s\n", why);
  else
    fprintf(stderr, "%s: %s\n", text, why);
}
