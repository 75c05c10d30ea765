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

#ifdef __cplusplus
// The classes as bits, for the declarations of libstdc++'s locales.
enum {
  _ISupper = 1 << 0,
  _ISlower = 1 << 1,
  _ISalpha = 1 << 2,
  _ISdigit = 1 << 3,
  _ISxdigit = 1 << 4,
  _ISspace = 1 << 5,
  _ISprint = 1 << 6,
  _ISgraph = 1 << 7,
  _ISblank = 1 << 8,
  _IScntrl = 1 << 9,
  _ISpunct = 1 << 10,
  _ISalnum = 1 << 11,
};
#endif
#endif
