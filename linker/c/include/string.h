// SPDX-License-Identifier: Apache-2.0
// string.h: bytes and strings.
#ifndef JANUS_C_STRING_H
#define JANUS_C_STRING_H
#define __need_size_t
#define __need_NULL
#include <stddef.h>
#include <strings.h>
#include <sys/cdefs.h>

__BEGIN_DECLS
void* memcpy(void* __JANUS_RESTRICT to, const void* __JANUS_RESTRICT from, size_t count) __JANUS_NOTHROW;
void* mempcpy(void* __JANUS_RESTRICT to, const void* __JANUS_RESTRICT from, size_t count) __JANUS_NOTHROW;
void* memmove(void* to, const void* from, size_t count) __JANUS_NOTHROW;
void* memset(void* bytes, int value, size_t count) __JANUS_NOTHROW;
int memcmp(const void* left, const void* right, size_t count) __JANUS_NOTHROW;
void* memchr(const void* bytes, int value, size_t count) __JANUS_NOTHROW;
void* memrchr(const void* bytes, int value, size_t count) __JANUS_NOTHROW;
void* memmem(const void* bytes, size_t count, const void* needle, size_t needle_count) __JANUS_NOTHROW;
void explicit_bzero(void* bytes, size_t count) __JANUS_NOTHROW;

size_t strlen(const char* text) __JANUS_NOTHROW;
size_t strnlen(const char* text, size_t most) __JANUS_NOTHROW;
int strcmp(const char* left, const char* right) __JANUS_NOTHROW;
int strncmp(const char* left, const char* right, size_t count) __JANUS_NOTHROW;
int strcoll(const char* left, const char* right) __JANUS_NOTHROW;
size_t strxfrm(char* __JANUS_RESTRICT to, const char* __JANUS_RESTRICT from, size_t count) __JANUS_NOTHROW;
char* strchr(const char* text, int c) __JANUS_NOTHROW;
char* strchrnul(const char* text, int c) __JANUS_NOTHROW;
char* strrchr(const char* text, int c) __JANUS_NOTHROW;
char* strstr(const char* text, const char* needle) __JANUS_NOTHROW;
size_t strspn(const char* text, const char* accepted) __JANUS_NOTHROW;
size_t strcspn(const char* text, const char* rejected) __JANUS_NOTHROW;
char* strpbrk(const char* text, const char* accepted) __JANUS_NOTHROW;
char* strcpy(char* __JANUS_RESTRICT to, const char* __JANUS_RESTRICT from) __JANUS_NOTHROW;
char* strncpy(char* __JANUS_RESTRICT to, const char* __JANUS_RESTRICT from, size_t count) __JANUS_NOTHROW;
char* stpcpy(char* __JANUS_RESTRICT to, const char* __JANUS_RESTRICT from) __JANUS_NOTHROW;
char* stpncpy(char* __JANUS_RESTRICT to, const char* __JANUS_RESTRICT from, size_t count) __JANUS_NOTHROW;
char* strcat(char* __JANUS_RESTRICT to, const char* __JANUS_RESTRICT from) __JANUS_NOTHROW;
char* strncat(char* __JANUS_RESTRICT to, const char* __JANUS_RESTRICT from, size_t count) __JANUS_NOTHROW;
char* strtok(char* __JANUS_RESTRICT text, const char* __JANUS_RESTRICT separators) __JANUS_NOTHROW;
char* strtok_r(char* __JANUS_RESTRICT text, const char* __JANUS_RESTRICT separators,
               char** __JANUS_RESTRICT rest) __JANUS_NOTHROW;
char* strdup(const char* text) __JANUS_NOTHROW __JANUS_MALLOC;
char* strndup(const char* text, size_t most) __JANUS_NOTHROW __JANUS_MALLOC;
char* strerror(int error) __JANUS_NOTHROW;
__END_DECLS
#endif
