// SPDX-License-Identifier: Apache-2.0
// files.c: files by system calls. Each call costs one of the task's `syscalls` and may block its worker.
#include <errno.h>
#include <fcntl.h>
#include <janus/rt.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "linker/c/src/answer.h"
#include "linker/c/src/define.h"
#include "linker/start/program.h"

// The kernel's failures are -errno. The runtime's own are below -4095 and have no errno; each gets the nearest one.
static int errno_of(int64_t failure) {
  if (failure >= -4095) return (int)-failure;
  switch (failure) {
    case JANUS_E_BUDGET:
      return EDQUOT;
    case JANUS_E_NO_CAP:
      return EPERM;
    case JANUS_E_NO_MEMORY:
      return ENOMEM;
    case JANUS_E_INVALID:
      return EINVAL;
    default:
      return ENOSYS;
  }
}

long janus_c_answer(int64_t result) {
  if (result >= 0) return (long)result;
  errno = errno_of(result);
  return -1;
}

static int open_at(int directory, const char* path, int flags, va_list values) {
  const int takes_mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  const mode_t mode = takes_mode ? va_arg(values, mode_t) : 0;
  return (int)janus_c_answer(janus_syscall(SYS_openat, (long)directory, path, (long)flags, (long)mode));
}

JANUS_C_DEFINE int openat(int directory, const char* path, int flags, ...) {
  va_list values;
  va_start(values, flags);
  const int fd = open_at(directory, path, flags, values);
  va_end(values);
  return fd;
}

JANUS_C_DEFINE int open(const char* path, int flags, ...) {
  va_list values;
  va_start(values, flags);
  const int fd = open_at(AT_FDCWD, path, flags, values);
  va_end(values);
  return fd;
}

// The same as open(), since off_t has 64 bits; a program compiled for large files calls it by this name.
JANUS_C_DEFINE int open64(const char* path, int flags, ...) {
  va_list values;
  va_start(values, flags);
  const int fd = open_at(AT_FDCWD, path, flags, values);
  va_end(values);
  return fd;
}

JANUS_C_DEFINE int creat(const char* path, mode_t mode) {
  return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

JANUS_C_DEFINE ssize_t read(int fd, void* bytes, size_t count) {
  return janus_c_answer(janus_syscall(SYS_read, (long)fd, bytes, count));
}

JANUS_C_DEFINE ssize_t write(int fd, const void* bytes, size_t count) {
  const int64_t answer = janus_syscall(SYS_write, (long)fd, bytes, count);
  janus_has_written(fd, answer);
  return janus_c_answer(answer);
}

JANUS_C_DEFINE int close(int fd) {
  return (int)janus_c_answer(janus_syscall(SYS_close, (long)fd));
}

JANUS_C_DEFINE off_t lseek(int fd, off_t offset, int whence) {
  return janus_c_answer(janus_syscall(SYS_lseek, (long)fd, offset, (long)whence));
}

JANUS_C_DEFINE off64_t lseek64(int fd, off64_t offset, int whence) {
  return lseek(fd, offset, whence);
}

JANUS_C_DEFINE int unlink(const char* path) {
  return (int)janus_c_answer(janus_syscall(SYS_unlink, path));
}

JANUS_C_DEFINE int rmdir(const char* path) {
  return (int)janus_c_answer(janus_syscall(SYS_rmdir, path));
}

// Removes a file or an empty directory; the kernel has a call for each.
JANUS_C_DEFINE int remove(const char* path) {
  const int64_t result = janus_syscall(SYS_unlink, path);
  return result == -EISDIR ? rmdir(path) : (int)janus_c_answer(result);
}

JANUS_C_DEFINE int rename(const char* from, const char* to) {
  return (int)janus_c_answer(janus_syscall(SYS_rename, from, to));
}
