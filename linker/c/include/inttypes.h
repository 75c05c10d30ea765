// SPDX-License-Identifier: Apache-2.0
// inttypes.h: stdint.h and the formats of printf, without those of scanf, which is not in this library.
#ifndef JANUS_C_INTTYPES_H
#define JANUS_C_INTTYPES_H
#include <stdint.h>
#include <sys/cdefs.h>

#define PRId8 "d"
#define PRIdLEAST8 "d"
#define PRIdFAST8 "d"
#define PRId16 "d"
#define PRIdLEAST16 "d"
#define PRIdFAST16 "ld"
#define PRId32 "d"
#define PRIdLEAST32 "d"
#define PRIdFAST32 "ld"
#define PRId64 "ld"
#define PRIdLEAST64 "ld"
#define PRIdFAST64 "ld"
#define PRIdMAX "ld"
#define PRIdPTR "ld"
#define PRIi8 "i"
#define PRIiLEAST8 "i"
#define PRIiFAST8 "i"
#define PRIi16 "i"
#define PRIiLEAST16 "i"
#define PRIiFAST16 "li"
#define PRIi32 "i"
#define PRIiLEAST32 "i"
#define PRIiFAST32 "li"
#define PRIi64 "li"
#define PRIiLEAST64 "li"
#define PRIiFAST64 "li"
#define PRIiMAX "li"
#define PRIiPTR "li"
#define PRIo8 "o"
#define PRIoLEAST8 "o"
#define PRIoFAST8 "o"
#define PRIo16 "o"
#define PRIoLEAST16 "o"
#define PRIoFAST16 "lo"
#define PRIo32 "o"
#define PRIoLEAST32 "o"
#define PRIoFAST32 "lo"
#define PRIo64 "lo"
#define PRIoLEAST64 "lo"
#define PRIoFAST64 "lo"
#define PRIoMAX "lo"
#define PRIoPTR "lo"
#define PRIu8 "u"
#define PRIuLEAST8 "u"
#define PRIuFAST8 "u"
#define PRIu16 "u"
#define PRIuLEAST16 "u"
#define PRIuFAST16 "lu"
#define PRIu32 "u"
#define PRIuLEAST32 "u"
#define PRIuFAST32 "lu"
#define PRIu64 "lu"
#define PRIuLEAST64 "lu"
#define PRIuFAST64 "lu"
#define PRIuMAX "lu"
#define PRIuPTR "lu"
#define PRIx8 "x"
#define PRIxLEAST8 "x"
#define PRIxFAST8 "x"
#define PRIx16 "x"
#define PRIxLEAST16 "x"
#define PRIxFAST16 "lx"
#define PRIx32 "x"
#define PRIxLEAST32 "x"
#define PRIxFAST32 "lx"
#define PRIx64 "lx"
#define PRIxLEAST64 "lx"
#define PRIxFAST64 "lx"
#define PRIxMAX "lx"
#define PRIxPTR "lx"
#define PRIX8 "X"
#define PRIXLEAST8 "X"
#define PRIXFAST8 "X"
#define PRIX16 "X"
#define PRIXLEAST16 "X"
#define PRIXFAST16 "lX"
#define PRIX32 "X"
#define PRIXLEAST32 "X"
#define PRIXFAST32 "lX"
#define PRIX64 "lX"
#define PRIXLEAST64 "lX"
#define PRIXFAST64 "lX"
#define PRIXMAX "lX"
#define PRIXPTR "lX"

typedef struct {
  intmax_t quot, rem;
} imaxdiv_t;

__BEGIN_DECLS
intmax_t imaxabs(intmax_t value) __JANUS_NOTHROW;
imaxdiv_t imaxdiv(intmax_t dividend, intmax_t divisor) __JANUS_NOTHROW;
intmax_t strtoimax(const char* __JANUS_RESTRICT text, char** __JANUS_RESTRICT end, int base) __JANUS_NOTHROW;
uintmax_t strtoumax(const char* __JANUS_RESTRICT text, char** __JANUS_RESTRICT end, int base) __JANUS_NOTHROW;

#ifdef __cplusplus
// Names in the headers of libstdc++. Declared, not defined: a program that uses one does not link.
intmax_t wcstoimax(const wchar_t* text, wchar_t** end, int base);
uintmax_t wcstoumax(const wchar_t* text, wchar_t** end, int base);
#endif
__END_DECLS
#endif
