// SPDX-License-Identifier: Apache-2.0
// ctype.h: the C locale, which is the only one.
#ifndef JANUS_C_CTYPE_H
#define JANUS_C_CTYPE_H
#include <sys/cdefs.h>

__BEGIN_DECLS
int isalnum(int c) __JANUS_NOTHROW;
int isalpha(int c) __JANUS_NOTHROW;
int isascii(int c) __JANUS_NOTHROW;
int isblank(int c) __JANUS_NOTHROW;
int iscntrl(int c) __JANUS_NOTHROW;
int isdigit(int c) __JANUS_NOTHROW;
int isgraph(int c) __JANUS_NOTHROW;
int islower(int c) __JANUS_NOTHROW;
int isprint(int c) __JANUS_NOTHROW;
int ispunct(int c) __JANUS_NOTHROW;
int isspace(int c) __JANUS_NOTHROW;
int isupper(int c) __JANUS_NOTHROW;
int isxdigit(int c) __JANUS_NOTHROW;
int toascii(int c) __JANUS_NOTHROW;
int tolower(int c) __JANUS_NOTHROW;
int toupper(int c) __JANUS_NOTHROW;
__END_DECLS
#endif
