// SPDX-License-Identifier: Apache-2.0
// A channel's handle leads to that channel alone: no channel is found near another one, in a copy of a record, or by
// the handle of the record's previous channel. A wrong guess makes the guessing task panic, and has no other effect.
#include "hostile.h"

enum { kChannels = 64 };

static int64_t release_it(void* handle) {
  janus_channel_release((janus_channel*)handle);
  return 0;
}
static int64_t close_it(void* handle) {
  return janus_channel_close((janus_channel*)handle);
}
static int64_t receive_from_it(void* handle) {
  uint64_t buffer[8];
  return janus_channel_try_recv((janus_channel*)handle, buffer);
}
static int64_t send_to_it(void* handle) {
  uint64_t buffer[8] = {0};
  return janus_channel_send((janus_channel*)handle, buffer);
}
static const janus_task_fn uses[] = {release_it, close_it, receive_from_it, send_to_it};

static janus_budget cage(void) {
  return (janus_budget){10000000, 4 << 20, 10, 1000, 0};
}

static int64_t probe(void* unused) {
  (void)unused;
  janus_channel* own = janus_channel_create(8, 1);
  for (long step = -20; step <= 20; ++step)
    for (int use = 0; use < 4 && step != 0; ++use)
      CHECK_EQ(run_in_cage(cage(), uses[use], (char*)own + step), JANUS_PANIC);
  janus_channel_release(own);
  return 0;
}

// Uses a channel until the worker has its handle in the cache and owns its lock; then tries a similar handle.
static janus_channel* in_use;

static int64_t name_another(void* handle) {
  for (uint64_t sent = 0; sent < 1000; ++sent) {
    uint64_t received = ~sent;
    CHECK(janus_channel_send(in_use, &sent) == 0 && janus_channel_recv(in_use, &received) == 0 && received == sent);
  }
  uint64_t buffer[8] = {0};
  return janus_channel_send((janus_channel*)handle, buffer);
}

static int64_t guess_beside_one_in_use(void* unused) {
  (void)unused;
  uint64_t buffer[8];
  in_use = janus_channel_create(8, 2);
  for (int bit = 0; bit < 64; ++bit) {
    janus_nursery* plain = open_plain();
    CHECK(spawn_roomy(plain, name_another, (void*)((uintptr_t)in_use ^ (uintptr_t)1 << bit)).raw != 0);
    CHECK_EQ(close_cage(plain), JANUS_PANIC);
    CHECK_EQ(janus_channel_try_recv(in_use, buffer), JANUS_E_WOULD_BLOCK);
  }
  janus_channel_release(in_use);
  return 0;
}

static int64_t forge(void* unused) {
  (void)unused;
  static uint64_t record[64];
  for (int i = 0; i < 64; ++i) record[i] = UINT64_C(0x4a43484e00000001);
  for (int use = 0; use < 4; ++use) CHECK_EQ(run_in_cage(cage(), uses[use], record), JANUS_PANIC);
  return 0;
}

// Handles of channels that have ended give an error, or a panic if other channels use the records now.
static int64_t keep_old_ones(void* unused) {
  (void)unused;
  static janus_channel *old[kChannels], *fresh[kChannels];
  uint64_t number = 4711;
  for (int i = 0; i < kChannels; ++i) old[i] = janus_channel_create(8, 1);
  for (int i = 0; i < kChannels; ++i) janus_channel_release(old[i]);
  for (int i = 0; i < kChannels; ++i) CHECK_EQ(janus_channel_close(old[i]), JANUS_E_STALE);
  for (int i = 0; i < kChannels; ++i) {
    fresh[i] = janus_channel_create(8, 1);
    CHECK_EQ(janus_channel_send(fresh[i], &number), 0);
  }
  for (int i = 0; i < kChannels; ++i) {
    for (int use = 0; use < 4; ++use) {
      const long answer = run_in_cage(cage(), uses[use], old[i]);
      CHECK_THAT(answer, answer == JANUS_PANIC || answer == JANUS_E_STALE || (use == 0 && answer == 0));
    }
  }
  for (int i = 0; i < kChannels; ++i) {
    uint64_t seen = 0;
    CHECK_EQ(janus_channel_recv(fresh[i], &seen), 0);
    CHECK_EQ(seen, 4711);
    janus_channel_release(fresh[i]);
  }
  return 0;
}

// A receiver waits for its channel_op while the channel ends, with a message in it, and other channels are made.
static janus_channel* leaving;

static int64_t receive_late(void* unused) {
  (void)unused;
  uint64_t guarded[3] = {1, 2, 3};
  const int answer = janus_channel_try_recv(leaving, &guarded[1]);
  CHECK(guarded[0] == 1 && guarded[1] == 2 && guarded[2] == 3);
  return answer;
}

static int is_spent;

static int64_t spend_the_only_op(void* handle) {
  const int64_t answer = send_to_it(handle);
  __atomic_store_n(&is_spent, 1, __ATOMIC_RELEASE);
  return answer;
}

static int64_t release_under_a_waiter(void* unused) {
  (void)unused;
  static janus_channel* others[kChannels];
  uint64_t number = 4711;
  char large[60] = {0};
  for (int round = 0; round < 2; ++round) {
    leaving = janus_channel_create(8, 1);
    CHECK_EQ(janus_channel_send(leaving, &number), 0);
    janus_budget one = cage();
    one.channel_ops = 1;
    janus_nursery* dry = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, one);
    janus_channel* spent = janus_channel_create(8, 1);
    __atomic_store_n(&is_spent, 0, __ATOMIC_RELAXED);
    spawn(dry, spend_the_only_op, spent);
    while (!__atomic_load_n(&is_spent, __ATOMIC_ACQUIRE)) janus_yield();
    const janus_task late = spawn(dry, receive_late, NULL);
    while (janus_task_state(late) != JANUS_TASK_BUDGET_EXHAUSTED) janus_yield();
    janus_channel_release(leaving);
    for (int i = 0; round == 1 && i < kChannels; ++i) {
      others[i] = janus_channel_create(60, 1);
      CHECK_EQ(janus_channel_send(others[i], large), 0);
    }
    CHECK_EQ(janus_nursery_recharge(dry, (janus_budget){0, 0, 0, 5, 0}), 0);
    const long answer = close_cage(dry);
    CHECK_THAT(answer, answer == JANUS_E_STALE || (round == 1 && answer == JANUS_PANIC));
    janus_channel_release(spent);
    for (int i = 0; round == 1 && i < kChannels; ++i) {
      CHECK_EQ(janus_channel_recv(others[i], large), 0);
      janus_channel_release(others[i]);
    }
  }
  return 0;
}

int main(void) {
  const accounts before = read_accounts();
  CHECK_EQ(beside_a_neighbour(100, probe, NULL), 0);
  CHECK_EQ(beside_a_neighbour(100, guess_beside_one_in_use, NULL), 0);
  CHECK_EQ(beside_a_neighbour(100, forge, NULL), 0);
  CHECK_EQ(beside_a_neighbour(100, keep_old_ones, NULL), 0);
  CHECK_EQ(beside_a_neighbour(100, release_under_a_waiter, NULL), 0);
  CHECK_NOTHING_LOST(before, 0);
  return end();
}
