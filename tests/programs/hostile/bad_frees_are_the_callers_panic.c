// SPDX-License-Identifier: Apache-2.0
// Double frees, and frees of foreign, interior and stale pointers and of the runtime's objects: each ends only the
// calling task, and the heap stays intact.
#include "hostile.h"

static char in_the_image[64] __attribute__((aligned(16)));

static int64_t free_it(void* block) {
  janus_free(block);
  return 0;
}

static int64_t resize_it(void* block) {
  return janus_realloc(block, 100) == NULL ? janus_last_error() : 0;
}

static int64_t free_twice(void* size) {
  void* volatile block = janus_alloc((size_t)(uintptr_t)size);
  janus_free(block);
  janus_free(block);
  return 0;
}

static int64_t resize_what_was_freed(void* size) {
  void* volatile block = janus_alloc((size_t)(uintptr_t)size);
  janus_free(block);
  return janus_realloc(block, 2 * (size_t)(uintptr_t)size) != NULL ? 0 : janus_last_error();
}

static int64_t free_interior(void* size) {
  char* volatile block = (char*)janus_alloc((size_t)(uintptr_t)size);
  janus_free(block + (size_t)(uintptr_t)size / 32 * 16);
  return 0;
}

static int64_t free_own_stack(void* unused) {
  (void)unused;
  char frame[64] __attribute__((aligned(16)));
  void* volatile here = frame;
  janus_free(here);
  return 0;
}

// Frees blocks behind bytes that imitate any header of a block.
static int64_t free_forged(void* unused) {
  (void)unused;
  uint64_t* volatile block = (uint64_t*)janus_alloc(4096);
  uint64_t* other = (uint64_t*)janus_alloc(4096);
  memcpy(other, block - 2, 16);
  janus_free(other + 2);
  return 0;
}

static void is_its_panic(const char* what, janus_task_fn fn, void* arg) {
  janus_budget budget = roomy();
  const long status = run_in_cage(budget, fn, arg);
  if (status != JANUS_PANIC) janus_print(1, "%s: ", what);
  CHECK_EQ(status, JANUS_PANIC);
}

static void are_distinct(void) {
  enum { kBlocks = 400 };
  static char* blocks[kBlocks];
  for (int i = 0; i < kBlocks; ++i) {
    blocks[i] = (char*)janus_alloc(16 + i * 37 % 3000);
    if (!CHECK(blocks[i] != NULL)) return;
    memset(blocks[i], i, 16);
  }
  for (int i = 0; i < kBlocks; ++i)
    for (int k = 0; k < 16; ++k)
      if ((unsigned char)blocks[i][k] != (unsigned char)i) CHECK(!"two owners of one block");
  for (int i = 0; i < kBlocks; ++i) janus_free(blocks[i]);
}

static int64_t attack(void* unused) {
  (void)unused;
  static const size_t sizes[] = {1, 64, 1000, 5000, 20000, 70000, 1 << 20, 5 << 20};
  for (int round = 0; round < 4; ++round) {
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
      is_its_panic("free twice", free_twice, (void*)sizes[i]);
      is_its_panic("realloc of a freed block", resize_what_was_freed, (void*)sizes[i]);
      if (sizes[i] >= 64) is_its_panic("interior pointer", free_interior, (void*)sizes[i]);
    }
    janus_nursery* nursery = open_plain();
    janus_channel* channel = janus_channel_create(8, 4);
    void* const bad[] = {in_the_image,       UNMAPPED, (void*)16, (void*)(uintptr_t)0x8000000000000000u,
                         (void*)UINTPTR_MAX, nursery,  channel,   (void*)(uintptr_t)attack};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; ++i) {
      is_its_panic("free of what was never allocated", free_it, bad[i]);
      is_its_panic("realloc of what was never allocated", resize_it, bad[i]);
    }
    is_its_panic("free of the own stack", free_own_stack, NULL);
    is_its_panic("free of forged bytes", free_forged, NULL);
    CHECK_EQ(janus_nursery_state(nursery), JANUS_NURSERY_OPEN);
    CHECK_EQ(close_cage(nursery), 0);
    CHECK_EQ(janus_channel_close(channel), 0);
    janus_channel_release(channel);
    are_distinct();
  }
  return 0;
}

int main(void) {
  CHECK_EQ(beside_a_neighbour(500, attack, NULL), 0);
  are_distinct();
  return end();
}
