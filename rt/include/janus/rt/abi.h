// SPDX-License-Identifier: Apache-2.0
// janus/rt/abi.h: the version of the interface, and the symbol that checks it at link time. Each part includes it. A
// part of janus/rt.h.
#ifndef JANUS_RT_ABI_H
#define JANUS_RT_ABI_H

#if !defined(__x86_64__) || defined(__ILP32__)
#error "janus-rt runs on x86_64 in 64-bit mode"
#endif

#include <stddef.h>
#include <stdint.h>

#define JANUS_ABI_VERSION 1
#define JANUS_RT_VERSION 300          /* major * 10000 + minor * 100 + patch */
#define JANUS_RT_VERSION_TEXT "0.3.0" /* `git tag` v0.3.0 */

#define JANUS_NORETURN __attribute__((__noreturn__))
#define JANUS_PRINTF(format_at, values_at) __attribute__((__format__(__printf__, format_at, values_at)))
#define JANUS_ALLOCATES(...) __attribute__((__malloc__, __VA_ARGS__))

#ifdef __cplusplus
extern "C" {
#endif

// Every object that includes this file refers to the symbol of its ABI, so that a mismatch is a link error.
// `retain` keeps the reference where the linker drops unused sections.
extern const char janus_abi_1;
#if defined(__has_attribute)
#if __has_attribute(__retain__)
__attribute__((__retain__))
#endif
#endif
__attribute__((__used__)) static const char* const janus_abi_reference = &janus_abi_1;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_RT_ABI_H
