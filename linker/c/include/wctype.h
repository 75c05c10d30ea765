// SPDX-License-Identifier: Apache-2.0
// wctype.h: wide characters are not in this library. The headers of libstdc++ mention them by name, so C++
// gets their declarations; a program that uses one does not link.
#ifndef __cplusplus
#error "wctype.h: wide characters are not in the small C library of janus-rt"
#endif
#ifndef JANUS_C_WCTYPE_H
#define JANUS_C_WCTYPE_H
#include <wchar.h>

typedef unsigned long wctype_t;
typedef const int* wctrans_t;

__BEGIN_DECLS
int iswalnum(wint_t c);
int iswalpha(wint_t c);
int iswblank(wint_t c);
int iswcntrl(wint_t c);
int iswdigit(wint_t c);
int iswgraph(wint_t c);
int iswlower(wint_t c);
int iswprint(wint_t c);
int iswpunct(wint_t c);
int iswspace(wint_t c);
int iswupper(wint_t c);
int iswxdigit(wint_t c);
int iswctype(wint_t c, wctype_t type);
wint_t towctrans(wint_t c, wctrans_t transformation);
wint_t towlower(wint_t c);
wint_t towupper(wint_t c);
wctrans_t wctrans(const char* name);
wctype_t wctype(const char* name);
__END_DECLS
#endif
