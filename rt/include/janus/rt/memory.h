// SPDX-License-Identifier: Apache-2.0
// janus/rt/memory.h: blocks of memory. A part of janus/rt.h.
#ifndef JANUS_RT_MEMORY_H
#define JANUS_RT_MEMORY_H

#include <janus/rt/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

// Allocates a block of memory. It is charged to the calling task's memory and credited there when any task or thread
// frees it. 16-byte aligned; size 0 gives a block, too. Returns NULL if the budget or the machine has no more [any].
JANUS_ALLOCATES(__alloc_size__(1)) void* janus_alloc(size_t size);
// Allocates a block at a multiple of `align`, a power of two up to 1 MiB; at least `align` / 16 is charged [any].
JANUS_ALLOCATES(__alloc_size__(2)) void* janus_alloc_aligned(size_t align, size_t size);
// Resizes a block, which may move. Returns NULL as janus_alloc does; the old block is unchanged then. A bad pointer is
// treated as by janus_free [any].
void* janus_realloc(void* block, size_t size);
// Frees a block. `block` may be NULL. A pointer that is no block, was freed before or is the runtime's own makes the
// calling task panic, and nothing else happens; outside tasks it ends the process [any].
void janus_free(void* block);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_RT_MEMORY_H
