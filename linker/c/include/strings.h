// SPDX-License-Identifier: Apache-2.0
// strings.h: functions that POSIX has in addition to those of string.h.
#ifndef JANUS_C_STRINGS_H
#define JANUS_C_STRINGS_H
#define __need_size_t
#include <stddef.h>
#include <sys/cdefs.h>

__BEGIN_DECLS
int bcmp(const void* left, const void* right, size_t count) __JANUS_NOTHROW;
void bcopy(const void* from, void* to, size_t count) __JANUS_NOTHROW;
void bzero(void* bytes, size_t count) __JANUS_NOTHROW;
int strcasecmp(const char* left, const char* right) __JANUS_NOTHROW;
int strncasecmp(const char* left, const char* right, size_t count) __JANUS_NOTHROW;
__END_DECLS
#endif
