// SPDX-License-Identifier: Apache-2.0
// sys/types.h: the types of POSIX, as Linux on x86_64 has them.
#ifndef JANUS_C_SYS_TYPES_H
#define JANUS_C_SYS_TYPES_H
#define __need_size_t
#include <stddef.h>

typedef long ssize_t;
typedef long off_t;
typedef long off64_t;
typedef long time_t;
typedef long clock_t;
typedef long suseconds_t;
typedef long blkcnt_t;
typedef long blksize_t;
typedef unsigned long dev_t;
typedef unsigned long ino_t;
typedef unsigned long nlink_t;
typedef unsigned int mode_t;
typedef unsigned int uid_t;
typedef unsigned int gid_t;
typedef unsigned int id_t;
typedef unsigned int useconds_t;
typedef int pid_t;
typedef int clockid_t;

typedef unsigned char u_char;
typedef unsigned short u_short;
typedef unsigned int u_int;
typedef unsigned long u_long;
#endif
