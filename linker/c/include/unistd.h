// SPDX-License-Identifier: Apache-2.0
// unistd.h: files, and the end of the process.
#ifndef JANUS_C_UNISTD_H
#define JANUS_C_UNISTD_H
#define __need_size_t
#define __need_NULL
#include <stddef.h>
#include <sys/cdefs.h>
#include <sys/types.h>

#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2

#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2

__BEGIN_DECLS
extern char** environ;

ssize_t read(int fd, void* bytes, size_t count);
ssize_t write(int fd, const void* bytes, size_t count);
int close(int fd);
off_t lseek(int fd, off_t offset, int whence) __JANUS_NOTHROW;
off64_t lseek64(int fd, off64_t offset, int whence) __JANUS_NOTHROW;
int unlink(const char* path) __JANUS_NOTHROW;
int rmdir(const char* path) __JANUS_NOTHROW;
__JANUS_NORETURN void _exit(int status);
__END_DECLS
#endif
