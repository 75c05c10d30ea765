// SPDX-License-Identifier: Apache-2.0
// locale.h: locales are not in this library. The headers of libstdc++ mention them by name, so C++
// gets their declarations; a program that uses one does not link.
#ifndef __cplusplus
#error "locale.h: locales are not in the small C library of janus-rt"
#endif
#ifndef JANUS_C_LOCALE_H
#define JANUS_C_LOCALE_H
#include <sys/cdefs.h>

#define LC_CTYPE 0
#define LC_NUMERIC 1
#define LC_TIME 2
#define LC_COLLATE 3
#define LC_MONETARY 4
#define LC_MESSAGES 5
#define LC_ALL 6

struct lconv {
  char *decimal_point, *thousands_sep, *grouping;
};
typedef struct __janus_locale* locale_t;
typedef locale_t __locale_t;

__BEGIN_DECLS
char* setlocale(int category, const char* name);
struct lconv* localeconv(void);
locale_t uselocale(locale_t locale);
__END_DECLS
#endif
