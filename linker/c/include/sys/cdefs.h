// SPDX-License-Identifier: Apache-2.0
// sys/cdefs.h: the macros that all headers of this library share.
#ifndef JANUS_C_SYS_CDEFS_H
#define JANUS_C_SYS_CDEFS_H

#ifdef __cplusplus
#define __BEGIN_DECLS extern "C" {
#define __END_DECLS }
#else
#define __BEGIN_DECLS
#define __END_DECLS
#endif

#if !defined(__cplusplus)
#define __JANUS_NOTHROW __attribute__((__nothrow__))
#elif __cplusplus >= 201103L
#define __JANUS_NOTHROW noexcept
#else
#define __JANUS_NOTHROW throw()
#endif

#if defined(__cplusplus) || __STDC_VERSION__ < 199901L
#define __JANUS_RESTRICT __restrict
#else
#define __JANUS_RESTRICT restrict
#endif

#define __JANUS_NORETURN __attribute__((__noreturn__))
#define __JANUS_MALLOC __attribute__((__malloc__, __warn_unused_result__))
#define __JANUS_PRINTF(format_at, values_at) __attribute__((__format__(__printf__, format_at, values_at)))

#endif
