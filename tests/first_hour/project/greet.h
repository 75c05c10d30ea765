// SPDX-License-Identifier: Apache-2.0
// greet.h: the library of the small project that the tests build with each build system.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Returns 0, or 1 if nothing could be printed.
int greet(const char* whom);

#ifdef __cplusplus
}
#endif
