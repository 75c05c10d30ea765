// SPDX-License-Identifier: Apache-2.0
// memory.c: malloc and its family over the runtime's allocator, so that every block is charged to the task's budget.
// malloc(0) returns a block of its own.
#include <errno.h>
#include <janus/rt.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "linker/c/src/define.h"
#include "linker/c/src/pay.h"

static void* or_enomem(void* block) {
  if (block == NULL) errno = ENOMEM;
  return block;
}

static int is_power_of_two(size_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

JANUS_C_DEFINE void* malloc(size_t bytes) {
  return or_enomem(janus_alloc(bytes));
}

JANUS_C_DEFINE void free(void* block) {
  janus_free(block);
}

JANUS_C_DEFINE void* calloc(size_t count, size_t bytes) {
  size_t total;
  if (__builtin_mul_overflow(count, bytes, &total)) return or_enomem(NULL);
  unsigned char* block = malloc(total);
  if (block == NULL) return NULL;
  for (size_t done = 0, piece; done < total; done += piece) {
    piece = janus_next_piece(total - done);
    memset(block + done, 0, piece);
  }
  return block;
}

JANUS_C_DEFINE void* realloc(void* block, size_t bytes) {
  return block == NULL ? malloc(bytes) : or_enomem(janus_realloc(block, bytes));
}

JANUS_C_DEFINE void* reallocarray(void* block, size_t count, size_t bytes) {
  size_t total;
  if (__builtin_mul_overflow(count, bytes, &total)) return or_enomem(NULL);
  return realloc(block, total);
}

JANUS_C_DEFINE void* memalign(size_t alignment, size_t bytes) {
  if (!is_power_of_two(alignment)) {
    errno = EINVAL;
    return NULL;
  }
  return or_enomem(janus_alloc_aligned(alignment, bytes));
}

JANUS_C_DEFINE void* aligned_alloc(size_t alignment, size_t bytes) {
  return memalign(alignment, bytes);
}

// Does not change errno, nor on failure *block, as POSIX requires.
JANUS_C_DEFINE int posix_memalign(void** block, size_t alignment, size_t bytes) {
  if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  void* taken = janus_alloc_aligned(alignment, bytes);
  if (taken == NULL) return ENOMEM;
  *block = taken;
  return 0;
}
