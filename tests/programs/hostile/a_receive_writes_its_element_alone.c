// SPDX-License-Identifier: Apache-2.0
// A receive touches its buffer before it takes anything. Not a byte of the pages behind the element is written, be it
// with what stood there: a neighbour who stores there meanwhile would lose the store.
#include "hostile.h"

enum { kPages = 64, kElement = 3000 };

static janus_channel* channel;
static char* area;
static int stop;

static int64_t store_behind(void* unused) {
  (void)unused;
  uint64_t lost = 0, value = 0;
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
    ++value;
    for (int page = 1; page < kPages; ++page)
      __atomic_store_n((uint64_t*)(area + 4096 * page), value, __ATOMIC_RELAXED);
    for (int page = 1; page < kPages; ++page)
      lost += __atomic_load_n((uint64_t*)(area + 4096 * page), __ATOMIC_RELAXED) != value;
    if (janus_yield_check(2 * kPages) < 0) break;
  }
  return (int64_t)lost;
}

static int64_t receive_many(void* unused) {
  (void)unused;
  for (int i = 0; i < 20000; ++i)
    if (janus_channel_try_recv(channel, area) != JANUS_E_WOULD_BLOCK) return -1;
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  return 0;
}

int main(void) {
  area = (char*)janus_alloc_aligned(4096, kPages * 4096);
  channel = janus_channel_create(kElement, 0);
  janus_nursery* nursery = open_plain();
  const janus_task storing = spawn_roomy(nursery, store_behind, NULL);
  spawn_roomy(nursery, receive_many, NULL);
  int64_t lost = 0;
  CHECK_EQ(janus_task_join(storing, &lost), 0);
  CHECK_EQ(lost, 0);
  CHECK_EQ(close_cage(nursery), 0);
  return end();
}
