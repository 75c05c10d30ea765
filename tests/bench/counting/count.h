// SPDX-License-Identifier: Apache-2.0
// count.h: common parts of count.c and count_deque.cpp.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#define MARK() __asm__ volatile("int3" ::: "memory")

void count_push(long count);
void count_pop(long count);
void count_steal(long count);

#ifdef __cplusplus
}
#endif
