// SPDX-License-Identifier: Apache-2.0
// Bare: no, it protects pages by system calls
// A task waits to receive into a buffer that is unmapped meanwhile. The sender must not suffer: the receiver panics,
// the message goes to the next receiver, and the channel keeps working.
#include <sys/syscall.h>

#include "hostile.h"

enum { kPage = 4096, kElement = 256 };

static janus_channel* channel;
static void* volatile buffer;

static int64_t receive_into_the_buffer(void* unused) {
  (void)unused;
  return janus_channel_recv(channel, buffer);
}

static int64_t send_from_the_buffer(void* unused) {
  (void)unused;
  return janus_channel_send(channel, buffer);
}

static int64_t receive(void* into) {
  return janus_channel_recv(channel, into);
}

static int64_t send(void* from) {
  return janus_channel_send(channel, from);
}

static void wait_until_blocked(janus_task task) {
  while (janus_task_state(task) != JANUS_TASK_BLOCKED) janus_yield();
}

// The waiting task loses its memory; then a task with good memory comes, and finds a partner with good memory.
static void one_waits_and_another_comes(janus_task_fn faulty, janus_task_fn comes, janus_task_fn partner) {
  static char sent[kElement], received[kElement];
  memset(sent, 7, sizeof sent);
  memset(received, 0, sizeof received);
  janus_nursery* nursery = open_plain();
  buffer = (void*)(uintptr_t)janus_syscall(SYS_mmap, NULL, kPage, 3, 0x22, -1, 0);
  memset(buffer, 1, kElement);
  const janus_task waiting = spawn_roomy(nursery, faulty, NULL);
  wait_until_blocked(waiting);
  CHECK_EQ(janus_syscall(SYS_mprotect, buffer, kPage, 0), 0);  // a freed block might be in use again
  const janus_task good = spawn_roomy(nursery, comes, comes == send ? sent : received);
  janus_yield();
  const janus_task other = spawn_roomy(nursery, partner, partner == send ? sent : received);
  int64_t value = 1;
  CHECK_EQ(janus_task_join(good, &value), 0);
  CHECK_EQ(value, 0);
  CHECK_EQ(janus_task_join(other, &value), 0);
  CHECK_EQ(value, 0);
  CHECK_EQ(janus_task_join(waiting, &value), 0);
  CHECK_EQ(value, JANUS_PANIC);
  CHECK_EQ(memcmp(sent, received, kElement), 0);
  CHECK_EQ(close_cage(nursery), JANUS_PANIC);
  CHECK_EQ(janus_syscall(SYS_munmap, buffer, kPage), 0);
}

static int64_t attack(void* capacity) {
  for (int round = 0; round < 20; ++round) {
    channel = janus_channel_create(kElement, (size_t)(uintptr_t)capacity);
    one_waits_and_another_comes(receive_into_the_buffer, send, receive);
    if (capacity == 0) one_waits_and_another_comes(send_from_the_buffer, receive, send);
    CHECK_EQ(janus_channel_close(channel), 0);
    janus_channel_release(channel);
  }
  return 0;
}

int main(void) {
  const accounts before = read_accounts();
  CHECK_EQ(beside_a_neighbour(300, attack, (void*)0), 0);
  CHECK_EQ(beside_a_neighbour(300, attack, (void*)3), 0);
  CHECK_NOTHING_LOST(before, 60);
  return end();
}
