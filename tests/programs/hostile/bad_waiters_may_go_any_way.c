// SPDX-License-Identifier: Apache-2.0
// Hundreds of tasks wait at a channel, most of them with memory that does not exist. Others use the channel, some
// waiters are cancelled, and the channel is closed or released while waiters are still being woken: each waiter ends,
// the good ones with a result, and nothing is lost.
#include "hostile.h"

enum { kWaiters = 400, kElement = 24, kRounds = 40, kComeBy = 40 };

static janus_channel* channel;
static janus_task waiters[kWaiters];

// A random number, from the seed if there is one.
static unsigned any(unsigned below) {
  unsigned number = 0;
  janus_entropy(&number, sizeof number);
  return number % below;
}

static int64_t judge(int answer) {
  CHECK_THAT(answer, answer == 0 || answer == JANUS_CANCELLED || answer == JANUS_E_CLOSED || answer == JANUS_E_STALE);
  return 0;
}

static int64_t receive_badly(void* number) {
  return judge(janus_channel_recv(channel, (char*)UNMAPPED + (size_t)(uintptr_t)number * kElement));
}

static int64_t send_badly(void* number) {
  return judge(janus_channel_send(channel, (char*)UNMAPPED + (size_t)(uintptr_t)number * kElement));
}

static int64_t receive_well(void* unused) {
  (void)unused;
  char element[kElement];
  return judge(janus_channel_recv(channel, element));
}

static int64_t send_well(void* unused) {
  (void)unused;
  const char element[kElement] = {0};
  return judge(janus_channel_send(channel, element));
}

static void come_by(janus_nursery* street, int they_receive) {
  char element[kElement] = {0};
  switch (any(4)) {
    case 0:
      spawn_roomy(street, they_receive ? send_well : receive_well, NULL);
      break;
    case 1:
      (void)(they_receive ? janus_channel_try_send(channel, element) : janus_channel_try_recv(channel, element));
      break;
    case 2:
      janus_task_cancel(waiters[any(kWaiters)]);
      break;
    default:
      janus_yield();
  }
}

static void one_round(void) {
  channel = janus_channel_create(kElement, any(3));
  janus_nursery* cage = open_cage(roomy());
  janus_nursery* street = open_plain();
  const int they_receive = any(2) == 0;
  for (uintptr_t i = 0; i < kWaiters; ++i)
    waiters[i] = any(8) == 0 ? spawn_roomy(street, they_receive ? receive_well : send_well, NULL)
                             : spawn_roomy(cage, they_receive ? receive_badly : send_badly, (void*)i);
  for (int i = 0; i < 20; ++i) janus_yield();
  for (int i = 0; i < kComeBy; ++i) come_by(street, they_receive);
  if (any(3) == 0) janus_nursery_cancel(cage);
  if (any(2) == 0) janus_channel_close(channel);
  janus_channel_release(channel);
  (void)close_cage(cage);
  (void)close_cage(street);
}

int main(void) {
  const accounts before = read_accounts();
  for (int i = 0; i < kRounds; ++i) one_round();
  CHECK_NOTHING_LOST(before, kRounds);
  return end();
}
