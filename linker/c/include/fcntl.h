// SPDX-License-Identifier: Apache-2.0
// fcntl.h: opening files, with the numbers of Linux on x86_64.
#ifndef JANUS_C_FCNTL_H
#define JANUS_C_FCNTL_H
#include <sys/cdefs.h>
#include <sys/types.h>

#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_ACCMODE 3
#define O_CREAT 0100
#define O_EXCL 0200
#define O_NOCTTY 0400
#define O_TRUNC 01000
#define O_APPEND 02000
#define O_NONBLOCK 04000
#define O_NDELAY O_NONBLOCK
#define O_DSYNC 010000
#define O_DIRECT 040000
#define O_LARGEFILE 0100000
#define O_DIRECTORY 0200000
#define O_NOFOLLOW 0400000
#define O_NOATIME 01000000
#define O_CLOEXEC 02000000
#define O_SYNC 04010000
#define O_PATH 010000000
#define O_TMPFILE 020200000

#define AT_FDCWD (-100)
#define AT_SYMLINK_NOFOLLOW 0x100
#define AT_REMOVEDIR 0x200
#define AT_SYMLINK_FOLLOW 0x400
#define AT_EMPTY_PATH 0x1000

__BEGIN_DECLS
int open(const char* path, int flags, ...);
int open64(const char* path, int flags, ...);
int openat(int directory, const char* path, int flags, ...);
int creat(const char* path, mode_t mode);
__END_DECLS
#endif
