// SPDX-License-Identifier: Apache-2.0
// time.h: reading clocks. There are no calendar functions, because they need a locale and a time zone.
#ifndef JANUS_C_TIME_H
#define JANUS_C_TIME_H
#define __need_size_t
#define __need_NULL
#include <stddef.h>
#include <sys/cdefs.h>
#include <sys/types.h>

#define CLOCKS_PER_SEC 1000000L
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1

struct timespec {
  time_t tv_sec;
  long tv_nsec;
};

struct tm {
  int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
};

__BEGIN_DECLS
time_t time(time_t* also) __JANUS_NOTHROW;
int clock_gettime(clockid_t clock, struct timespec* now) __JANUS_NOTHROW;
clock_t clock(void) __JANUS_NOTHROW;

#ifdef __cplusplus
// Names in the headers of libstdc++. Declared, not defined: a program that uses one does not link.
double difftime(time_t later, time_t earlier);
time_t mktime(struct tm* parts);
char* asctime(const struct tm* parts);
char* ctime(const time_t* when);
struct tm* gmtime(const time_t* when);
struct tm* localtime(const time_t* when);
size_t strftime(char* to, size_t size, const char* format, const struct tm* parts);
int timespec_get(struct timespec* now, int base);
#define TIME_UTC 1
#endif
__END_DECLS
#endif
