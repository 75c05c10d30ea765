// SPDX-License-Identifier: Apache-2.0
// Many caged tasks wait at a channel with memory that does not exist, which a wait does not look at. A task that uses
// the channel drops only some of them; the others check their memory themselves, and a good waiter behind them is
// served.
#include "hostile.h"

enum { kWaiters = 2000, kElement = 64, kStep = 8 };

static janus_channel* channel;
static janus_task waiters[kWaiters];
static volatile int all_wait, all_ended;

static int64_t receive_badly(void* number) {
  return janus_channel_recv(channel, (char*)UNMAPPED + (size_t)(uintptr_t)number * kElement);
}

static int64_t send_badly(void* number) {
  return janus_channel_send(channel, (char*)UNMAPPED + (size_t)(uintptr_t)number * kElement);
}

static int64_t wait_in_a_crowd(void* wait) {
  janus_spawn_options options;
  memset(&options, 0, sizeof options);
  options.stack_size = 8192;
  janus_nursery* crowd = open_plain();
  for (uintptr_t i = 0; i < kWaiters; ++i) {
    waiters[i] = janus_nursery_spawn_in(crowd, *(janus_task_fn*)wait, (void*)i, &options);
    if (!CHECK(waiters[i].raw != 0)) return -1;
    while (janus_task_state(waiters[i]) != JANUS_TASK_BLOCKED) janus_yield();
  }
  all_wait = 1;
  CHECK_EQ(close_cage(crowd), JANUS_PANIC);
  all_ended = 1;
  return 0;
}

static int64_t receive_well(void* element) {
  return janus_channel_recv(channel, element);
}

static int64_t send_well(void* element) {
  return janus_channel_send(channel, element);
}

// Checks a sample of the waiters, in less than a slice, so that no other task runs meanwhile.
static int count_blocked(void) {
  int blocked = 0;
  for (int i = 0; i < kWaiters; i += kStep) blocked += janus_task_state(waiters[i]) == JANUS_TASK_BLOCKED ? kStep : 0;
  return blocked;
}

static void come_by(janus_task_fn wait, size_t in_buffer) {
  static char element[kElement], other[kElement];
  const int they_receive = wait == receive_badly;
  memset(element, 7, sizeof element);
  memset(other, 0, sizeof other);
  channel = janus_channel_create(kElement, in_buffer);
  all_wait = all_ended = 0;
  for (size_t i = 0; i < in_buffer; ++i) CHECK_EQ(janus_channel_send(channel, element), 0);
  janus_nursery* cage = open_cage(roomy());
  spawn_roomy(cage, wait_in_a_crowd, &wait);
  while (!all_wait) janus_yield();
  janus_nursery* street = open_plain();
  const janus_task behind =
      spawn_roomy(street, they_receive ? receive_well : send_well, they_receive ? other : element);
  while (janus_task_state(behind) != JANUS_TASK_BLOCKED) janus_yield();

  const uint64_t start = janus_now_ns();
  const int answer = they_receive ? janus_channel_try_send(channel, element) : janus_channel_try_recv(channel, other);
  const uint64_t taken = janus_now_ns() - start;
  const int blocked = count_blocked();
  CHECK_EQ(answer, in_buffer != 0 ? 0 : JANUS_E_WOULD_BLOCK);
  // With more workers, other tasks have dropped waiters meanwhile.
  if (read_accounts().stats.workers == 1) CHECK_THAT(blocked, blocked >= kWaiters / 2);
  while (!all_ended) janus_yield();

  // No waiter is before the good one any more. If there was room in the buffer, its element is there.
  if (they_receive)
    CHECK_EQ(janus_channel_send(channel, element), 0);
  else
    CHECK_EQ(janus_channel_recv(channel, other), 0);
  CHECK_EQ(close_cage(street), 0);
  CHECK_EQ(memcmp(element, other, kElement), 0);
  (void)close_cage(cage);
  janus_channel_release(channel);
  janus_print(1, "figure: %d bad %s, one call: %llu us\n", kWaiters, they_receive ? "receivers" : "senders",
              (unsigned long long)taken / 1000);
}

int main(void) {
  const accounts before = read_accounts();
  come_by(receive_badly, 0);
  come_by(send_badly, 0);
  come_by(send_badly, 3);
  CHECK_NOTHING_LOST(before, 3);
  return end();
}
