// SPDX-License-Identifier: Apache-2.0
// stream.c: opening, closing, positioning and locking streams. docs/decisions/0211
#include "linker/c/src/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <janus/rt.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "linker/c/src/answer.h"
#include "linker/c/src/define.h"

// Functions of the runtime (rt/abi/lock_by_address.cpp). Result 1: the task has the lock until it gives it back, or ends in any
// way. 0: another task has it. Negative: the reason for failure.
int janus_hold_try(const void* object);
void janus_hold_end(const void* object);

static FILE standard_input = {.fd = 0, .mode = kReads, .at = kPushBack, .end = kPushBack};
static FILE standard_output = {.fd = 1, .mode = kWrites, .at = kPushBack, .end = kPushBack};
static FILE standard_error = {.fd = 2, .mode = kWrites, .at = kPushBack, .end = kPushBack};
JANUS_C_DEFINE FILE* stdin = &standard_input;
JANUS_C_DEFINE FILE* stdout = &standard_output;
JANUS_C_DEFINE FILE* stderr = &standard_error;

// --- Shared by all functions of a stream

int janus_stream_fail(FILE* file, int error) {
  errno = error;
  __atomic_store_n(&file->error, 1, __ATOMIC_RELAXED);
  return EOF;
}

int janus_stream_lock(FILE* file) {
  for (;;) {
    const int answer = janus_hold_try(&file->lock);
    if (answer > 0) return 1;
    if (answer < 0) {
      (void)janus_c_answer(answer);
      janus_stream_fail(file, errno);
      return 0;
    }
    if (janus_yield() >= 0) continue;
    janus_stream_fail(file, ECANCELED);
    return 0;
  }
}

void janus_stream_unlock(FILE* file) {
  janus_hold_end(&file->lock);
}

int janus_stream_forget_ahead(FILE* file) {
  const off_t ahead = (off_t)(file->end - file->at);
  if (ahead > 0 && lseek(file->fd, -ahead, SEEK_CUR) < 0) return -1;
  file->at = file->end = kPushBack;
  return 0;
}

// --- Opening and closing

// The flags for open(); -1 for an invalid mode.
static int flags_of(const char* mode) {
  int flags;
  switch (*mode) {
    case 'r':
      flags = O_RDONLY;
      break;
    case 'w':
      flags = O_WRONLY | O_CREAT | O_TRUNC;
      break;
    case 'a':
      flags = O_WRONLY | O_CREAT | O_APPEND;
      break;
    default:
      return -1;
  }
  if (strchr(mode, '+') != NULL) flags = (flags & ~O_ACCMODE) | O_RDWR;
  if (strchr(mode, 'x') != NULL) flags |= O_EXCL;
  if (strchr(mode, 'e') != NULL) flags |= O_CLOEXEC;
  return flags;
}

static FILE* make_stream(int fd, int flags) {
  FILE* file = janus_alloc(sizeof *file);
  if (file == NULL) {
    errno = ENOMEM;
    return NULL;
  }
  memset(file, 0, offsetof(FILE, bytes));
  file->fd = fd;
  file->mode = (flags & O_ACCMODE) == O_RDWR ? kReads | kWrites : (flags & O_ACCMODE) == O_RDONLY ? kReads : kWrites;
  file->at = file->end = kPushBack;
  return file;
}

JANUS_C_DEFINE FILE* fdopen(int fd, const char* mode) {
  const int flags = flags_of(mode);
  if (flags < 0) {
    errno = EINVAL;
    return NULL;
  }
  // On a machine that cannot tell (one without a kernel), a bad descriptor is found only when it is used.
  const long get_flags = 3;  // F_GETFL
  const int64_t opened = janus_syscall(SYS_fcntl, (long)fd, get_flags);
  const int64_t has = opened & O_ACCMODE, wants = flags & O_ACCMODE;
  const int error = opened == -EBADF ? EBADF : opened >= 0 && has != O_RDWR && has != wants ? EINVAL : 0;
  if (error == 0) return make_stream(fd, flags);
  errno = error;
  return NULL;
}

JANUS_C_DEFINE FILE* fopen(const char* restrict path, const char* restrict mode) {
  const int flags = flags_of(mode);
  if (flags < 0) {
    errno = EINVAL;
    return NULL;
  }
  const int fd = open(path, flags, 0666);
  if (fd < 0) return NULL;
  FILE* file = make_stream(fd, flags);
  if (file == NULL) close(fd);
  return file;
}

// Called by objects that were compiled for large files against another C library.
FILE* fopen64(const char* path, const char* mode);
JANUS_C_DEFINE FILE* fopen64(const char* path, const char* mode) {
  return fopen(path, mode);
}

JANUS_C_DEFINE int fclose(FILE* file) {
  const int result = close(file->fd);
  if (file != &standard_input && file != &standard_output && file != &standard_error) janus_free(file);
  return result < 0 ? EOF : 0;
}

// There is never output to write. Bytes that were read ahead are given back by a seek, if the file can seek.
JANUS_C_DEFINE int fflush(FILE* file) {
  if (file == NULL || !(file->mode & kReads)) return 0;
  if (!janus_stream_lock(file)) return EOF;
  const int before = errno;
  if (janus_stream_forget_ahead(file) < 0) errno = before;
  janus_stream_unlock(file);
  return 0;
}

JANUS_C_DEFINE int setvbuf(FILE* restrict file, char* restrict buffer, int mode, size_t size) {
  (void)file;
  (void)buffer;
  (void)size;
  return mode == _IONBF ? 0 : EOF;
}
JANUS_C_DEFINE void setbuf(FILE* restrict file, char* restrict buffer) {
  (void)file;
  (void)buffer;
}

// --- State and position

JANUS_C_DEFINE int fileno(FILE* file) {
  return file->fd;
}
JANUS_C_DEFINE int feof(FILE* file) {
  return __atomic_load_n(&file->eof, __ATOMIC_RELAXED);
}
JANUS_C_DEFINE int ferror(FILE* file) {
  return __atomic_load_n(&file->error, __ATOMIC_RELAXED);
}
JANUS_C_DEFINE void clearerr(FILE* file) {
  __atomic_store_n(&file->error, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&file->eof, 0, __ATOMIC_RELAXED);
}

JANUS_C_DEFINE int fseeko(FILE* file, off_t offset, int whence) {
  if (!janus_stream_lock(file)) return -1;
  const off_t ahead = (off_t)(file->end - file->at);
  const int moved = lseek(file->fd, whence == SEEK_CUR ? offset - ahead : offset, whence) >= 0;
  if (moved) {
    file->at = file->end = kPushBack;
    __atomic_store_n(&file->eof, 0, __ATOMIC_RELAXED);
  }
  janus_stream_unlock(file);
  return moved ? 0 : -1;
}
JANUS_C_DEFINE int fseek(FILE* file, long offset, int whence) {
  return fseeko(file, offset, whence);
}

JANUS_C_DEFINE off_t ftello(FILE* file) {
  if (!janus_stream_lock(file)) return -1;
  off_t position = lseek(file->fd, 0, SEEK_CUR);
  if (position >= 0) position -= (off_t)(file->end - file->at);
  janus_stream_unlock(file);
  return position;
}
JANUS_C_DEFINE long ftell(FILE* file) {
  return ftello(file);
}

JANUS_C_DEFINE void rewind(FILE* file) {
  fseeko(file, 0, SEEK_SET);
  __atomic_store_n(&file->error, 0, __ATOMIC_RELAXED);
}

JANUS_C_DEFINE int fgetpos(FILE* restrict file, fpos_t* restrict position) {
  position->offset = ftello(file);
  return position->offset < 0 ? -1 : 0;
}
JANUS_C_DEFINE int fsetpos(FILE* file, const fpos_t* position) {
  return fseeko(file, position->offset, SEEK_SET);
}
