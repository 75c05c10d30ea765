// SPDX-License-Identifier: Apache-2.0
// stream_read.c: reading from streams, which read up to 1 KiB ahead.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "linker/c/src/define.h"
#include "linker/c/src/stream.h"

// Call with the lock held. Returns the result of read(); if it is not above 0, sets the stream's error or end mark.
static ssize_t read_some(FILE* file, void* to, size_t count) {
  const ssize_t got = read(file->fd, to, count);
  if (got < 0) __atomic_store_n(&file->error, 1, __ATOMIC_RELAXED);
  if (got == 0) __atomic_store_n(&file->eof, 1, __ATOMIC_RELAXED);
  return got;
}

// Call with the lock held. Returns whether a byte is ready, reading ahead if need be. False on an error and at the end
// of the file; the mark for the end lasts until clearerr(), ungetc() or a seek.
static int has_more(FILE* file) {
  if (file->at < file->end) return 1;
  if (feof(file)) return 0;
  const ssize_t got = read_some(file, file->bytes + kPushBack, BUFSIZ);
  if (got <= 0) return 0;
  file->at = kPushBack;
  file->end = kPushBack + (uint32_t)got;
  return 1;
}

// Call with the lock held. Reads up to `count` bytes and returns their number.
static size_t take(FILE* file, unsigned char* to, size_t count) {
  size_t taken = 0;
  while (taken < count) {
    const size_t left = count - taken;
    if (file->at == file->end && left >= BUFSIZ && !feof(file)) {
      const ssize_t got = read_some(file, to + taken, left);
      if (got <= 0) break;
      taken += (size_t)got;
      continue;
    }
    if (!has_more(file)) break;
    const size_t ready = file->end - file->at;
    const size_t piece = ready < left ? ready : left;
    memcpy(to + taken, file->bytes + file->at, piece);
    file->at += (uint32_t)piece;
    taken += piece;
  }
  return taken;
}

// Takes the lock for reading. Returns false, with the stream's error set, if the stream cannot be read or not locked.
static int begin(FILE* file) {
  if (file->mode & kReads) return janus_stream_lock(file);
  janus_stream_fail(file, EBADF);
  return 0;
}

JANUS_C_DEFINE size_t fread(void* restrict to, size_t size, size_t count, FILE* restrict file) {
  size_t bytes;
  if (__builtin_mul_overflow(size, count, &bytes)) {
    janus_stream_fail(file, EOVERFLOW);
    return 0;
  }
  if (bytes == 0 || !begin(file)) return 0;
  const size_t taken = take(file, to, bytes);
  janus_stream_unlock(file);
  return taken / size;
}

JANUS_C_DEFINE int fgetc(FILE* file) {
  unsigned char c;
  return fread(&c, 1, 1, file) == 1 ? c : EOF;
}
JANUS_C_DEFINE int getc(FILE* file) {
  return fgetc(file);
}
JANUS_C_DEFINE int getchar(void) {
  return fgetc(stdin);
}

JANUS_C_DEFINE char* fgets(char* restrict to, int size, FILE* restrict file) {
  if (size <= 0 || !begin(file)) return NULL;
  size_t taken = 0;
  const size_t room = (size_t)size - 1;
  int failed = 0;
  while (taken < room) {
    if (!has_more(file)) {
      failed = taken == 0 || !feof(file);
      break;
    }
    const unsigned char* from = file->bytes + file->at;
    const size_t ready = file->end - file->at;
    const size_t most = ready < room - taken ? ready : room - taken;
    const unsigned char* newline = memchr(from, '\n', most);
    const size_t piece = newline == NULL ? most : (size_t)(newline - from) + 1;
    memcpy(to + taken, from, piece);
    file->at += (uint32_t)piece;
    taken += piece;
    if (newline != NULL) break;
  }
  janus_stream_unlock(file);
  if (failed) return NULL;
  to[taken] = '\0';
  return to;
}

// There is always room to push back eight bytes (kPushBack).
JANUS_C_DEFINE int ungetc(int c, FILE* file) {
  if (c == EOF || !begin(file)) return EOF;
  const int fits = file->at > 0;
  if (fits) {
    file->bytes[--file->at] = (unsigned char)c;
    __atomic_store_n(&file->eof, 0, __ATOMIC_RELAXED);
  }
  janus_stream_unlock(file);
  return fits ? (unsigned char)c : EOF;
}
