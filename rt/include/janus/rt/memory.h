// SPDX-License-Identifier: Apache-2.0
// janus/rt/memory.h: blocks of memory. A part of janus/rt.h.
#ifndef JANUS_RT_MEMORY_H
#define JANUS_RT_MEMORY_H

#include <janus/rt/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

// A block of memory. Charged to the calling task's memory and credited there when freed, by whomever. 16-byte aligned;
// size 0 gives a block of its own. NULL: the budget or the machine has no more [any].
JANUS_ALLOCATES(__alloc_size__(1)) void* janus_alloc(size_t size);
// A block at a multiple of `align`, which is a power of two, up to 1 MiB; a sixteenth of it at least is charged [any].
JANUS_ALLOCATES(__alloc_size__(2)) void* janus_alloc_aligned(size_t align, size_t size);
// Resizes a block, which may move. NULL: as janus_alloc. On failure the old block is as it was; what is no block of the
// caller's is as for janus_free [any].
void* janus_realloc(void* block, size_t size);
// Gives a block back. NULL is fine. What is no block, was freed before or is the runtime's own is the calling task's
// panic, and nothing else happens; outside tasks it ends the process [any].
void janus_free(void* block);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_RT_MEMORY_H
