// SPDX-License-Identifier: Apache-2.0
// A cage's tasks wait at a channel in great number, with memory that is gone by then. Whoever comes finds each of them
// to be bad before it comes to a good one: others have their turns meanwhile, and the cage pays for it.
#include "hostile.h"

enum { kWaiters = 2000, kElement = 64, kAtOnce = 64 };

static janus_channel* channel;
static char* block;
static volatile int all_wait, is_looking, is_over;
static volatile long turns;

static int64_t receive_into_the_block(void* number) {
  return janus_channel_recv(channel, block + (size_t)(uintptr_t)number * kElement);
}

static int64_t send_from_the_block(void* number) {
  return janus_channel_send(channel, block + (size_t)(uintptr_t)number * kElement);
}

// A block of its own pages, which go when it is freed.
static int64_t wait_in_a_crowd(void* wait) {
  janus_spawn_options options;
  memset(&options, 0, sizeof options);
  options.stack_size = 8192;
  block = (char*)janus_alloc((size_t)kWaiters * kElement + ((size_t)4 << 20));
  if (!CHECK(block != NULL)) return -1;
  memset(block, 1, (size_t)kWaiters * kElement);
  janus_nursery* crowd = open_plain();
  janus_task last = {0};
  for (uintptr_t i = 0; i < kWaiters; ++i) {
    last = janus_nursery_spawn_in(crowd, *(janus_task_fn*)wait, (void*)i, &options);
    if (!CHECK(last.raw != 0)) return -1;
    while (janus_task_state(last) != JANUS_TASK_BLOCKED) janus_yield();
  }
  janus_free(block);
  all_wait = 1;
  close_cage(crowd);
  return 0;
}

static int64_t count_turns(void* unused) {
  (void)unused;
  while (!is_over) {
    if (is_looking) ++turns;
    janus_yield();
  }
  return 0;
}

static void come_by(janus_task_fn wait, size_t in_buffer) {
  char element[kElement];
  memset(element, 7, sizeof element);
  channel = janus_channel_create(kElement, in_buffer);
  all_wait = is_looking = is_over = 0;
  turns = 0;
  for (size_t i = 0; i < in_buffer; ++i) CHECK_EQ(janus_channel_send(channel, element), 0);
  janus_nursery* street = open_plain();
  spawn_roomy(street, count_turns, NULL);
  janus_nursery* cage = open_cage(roomy());
  spawn_roomy(cage, wait_in_a_crowd, &wait);
  while (!all_wait) janus_yield();
  const uint64_t start = janus_now_ns();
  is_looking = 1;
  const int answer = wait == receive_into_the_block ? janus_channel_try_send(channel, element)
                                                    : janus_channel_try_recv(channel, element);
  is_looking = 0;
  const uint64_t taken = janus_now_ns() - start;
  CHECK_EQ(answer, in_buffer != 0 ? 0 : JANUS_E_WOULD_BLOCK);
  // With more workers the machine decides who runs meanwhile.
  if (read_accounts().stats.workers == 1) CHECK_THAT(turns, turns >= kWaiters / kAtOnce / 2);
  is_over = 1;
  CHECK_EQ(janus_channel_close(channel), 0);
  CHECK_EQ(close_cage(street), 0);
  (void)close_cage(cage);
  janus_channel_release(channel);
  janus_print(1, "figure: %d bad %s, one call: %llu us\n", kWaiters,
              wait == receive_into_the_block ? "receivers" : "senders", (unsigned long long)taken / 1000);
}

int main(void) {
  const accounts before = read_accounts();
  come_by(receive_into_the_block, 0);
  come_by(send_from_the_block, 0);
  come_by(send_from_the_block, 3);
  CHECK_NOTHING_LOST(before, 3);
  return end();
}
