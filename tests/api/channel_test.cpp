// SPDX-License-Identifier: Apache-2.0
// Channels through rt.h: order, capacity, rendezvous, closing, cancellation.
#include "tests/api/in_task.h"

namespace {

using namespace janus::test;

struct Pair {
  janus_channel *in, *out;
};

TASK_TEST(channel, messages_arrive_in_order) {
  janus_channel* channel = janus_channel_create(sizeof(int), 8);
  REQUIRE(channel != nullptr);
  for (int i = 0; i < 8; ++i) CHECK_EQ(janus_channel_send(channel, &i), 0);
  int more = 8;
  CHECK_EQ(janus_channel_try_send(channel, &more), JANUS_E_WOULD_BLOCK);
  for (int i = 0; i < 8; ++i) {
    int got = -1;
    CHECK_EQ(janus_channel_recv(channel, &got), 0);
    CHECK_EQ(got, i);
  }
  CHECK_EQ(janus_channel_try_recv(channel, &more), JANUS_E_WOULD_BLOCK);
  janus_channel_release(channel);
}

TASK_TEST(channel, receivers_drain_what_was_sent_before_the_close) {
  janus_channel* channel = janus_channel_create(sizeof(int), 4);
  for (int i = 0; i < 3; ++i) janus_channel_send(channel, &i);
  CHECK_EQ(janus_channel_close(channel), 0);
  CHECK_EQ(janus_channel_close(channel), JANUS_E_CLOSED);
  int value = 7;
  CHECK_EQ(janus_channel_send(channel, &value), JANUS_E_CLOSED);
  CHECK_EQ(janus_channel_try_send(channel, &value), JANUS_E_CLOSED);
  for (int i = 0; i < 3; ++i) {
    CHECK_EQ(i == 1 ? janus_channel_try_recv(channel, &value) : janus_channel_recv(channel, &value), 0);
    CHECK_EQ(value, i);
  }
  CHECK_EQ(janus_channel_recv(channel, &value), JANUS_E_CLOSED);
  CHECK_EQ(janus_channel_try_recv(channel, &value), JANUS_E_CLOSED);
  janus_channel_release(channel);
}

std::int64_t echo(void* arg) {
  const Pair pair = *static_cast<Pair*>(arg);
  for (;;) {
    int value;
    const int status = janus_channel_recv(pair.in, &value);
    if (status == JANUS_E_CLOSED) return janus_channel_close(pair.out);
    if (status < 0) return status;
    ++value;
    if (janus_channel_send(pair.out, &value) < 0) return -5;
  }
}

TASK_TEST(channel, a_rendezvous_channel_makes_sender_and_receiver_meet) {
  Pair pair = {janus_channel_create(sizeof(int), 0), janus_channel_create(sizeof(int), 0)};
  int value = 1;
  CHECK_EQ(janus_channel_try_send(pair.in, &value), JANUS_E_WOULD_BLOCK);
  CHECK_EQ(janus_channel_try_recv(pair.in, &value), JANUS_E_WOULD_BLOCK);
  janus_nursery* nursery = open_nursery();
  spawn(nursery, echo, &pair);
  for (int i = 0; i < 1000; ++i) {
    CHECK_EQ(janus_channel_send(pair.in, &i), 0);
    CHECK_EQ(janus_channel_recv(pair.out, &value), 0);
    CHECK_EQ(value, i + 1);
  }
  janus_channel_close(pair.in);
  CHECK_EQ(janus_channel_recv(pair.out, &value), JANUS_E_CLOSED);
  CHECK_EQ(end(nursery), 0);
  janus_channel_release(pair.in);
  janus_channel_release(pair.out);
}

TASK_TEST(channel, elements_of_any_size_arrive_whole) {
  static unsigned char sent[5000], got[5000];
  for (std::size_t size : {1, 2, 3, 7, 8, 9, 16, 63, 64, 65, 255, 4096, 5000}) {
    janus_channel* channel = janus_channel_create(size, 2);
    REQUIRE(channel != nullptr);
    for (std::size_t i = 0; i < size; ++i) sent[i] = static_cast<unsigned char>(i * 7 + size), got[i] = 0;
    CHECK_EQ(janus_channel_send(channel, sent), 0);
    CHECK_EQ(janus_channel_recv(channel, got), 0);
    bool same = true;
    for (std::size_t i = 0; i < size; ++i) same &= got[i] == sent[i];
    CHECK(same);
    janus_channel_release(channel);
  }
}

struct Load {
  janus_channel* channel;
  std::atomic<long> sum = 0;
  int first, count;
};

std::int64_t produce(void* arg) {
  auto* load = static_cast<Load*>(arg);
  for (int i = 0; i < load->count; ++i) {
    const int value = load->first + i;
    if (janus_channel_send(load->channel, &value) < 0) return -5;
  }
  return 0;
}

std::int64_t consume(void* arg) {
  auto* load = static_cast<Load*>(arg);
  int value;
  while (janus_channel_recv(load->channel, &value) == 0) load->sum.fetch_add(value);
  return 0;
}

TASK_TEST(channel, nothing_is_lost_or_doubled_between_many_senders_and_receivers) {
  constexpr int kSenders = 8, kEach = 500;
  for (std::size_t capacity : {0, 1, 3, 64}) {
    janus_channel* channel = janus_channel_create(sizeof(int), capacity);
    static Load senders[kSenders], receivers[kSenders];
    janus_nursery* reading = open_nursery();
    janus_nursery* writing = open_nursery();
    for (int i = 0; i < kSenders; ++i) {
      receivers[i].channel = senders[i].channel = channel;
      receivers[i].sum = 0;
      senders[i].first = i * kEach;
      senders[i].count = kEach;
      spawn(reading, consume, &receivers[i]);
      spawn(writing, produce, &senders[i]);
    }
    CHECK_EQ(end(writing), 0);
    janus_channel_close(channel);
    CHECK_EQ(end(reading), 0);
    long sum = 0;
    for (const Load& receiver : receivers) sum += receiver.sum.load();
    constexpr long kAll = kSenders * kEach;
    CHECK_EQ(sum, kAll * (kAll - 1) / 2);
    janus_channel_release(channel);
  }
}

std::int64_t receive_for_ever(void* channel) {
  int value;
  const int status = janus_channel_recv(static_cast<janus_channel*>(channel), &value);
  return status == JANUS_CANCELLED ? JANUS_CANCELLED : -5;
}

std::int64_t send_for_ever(void* channel) {
  const int value = 1;
  const int status = janus_channel_send(static_cast<janus_channel*>(channel), &value);
  return status == JANUS_CANCELLED ? JANUS_CANCELLED : -5;
}

TASK_TEST(channel, cancellation_wakes_who_waits_and_takes_nothing) {
  janus_channel* channel = janus_channel_create(sizeof(int), 0);
  for (janus_task_fn fn : {receive_for_ever, send_for_ever}) {
    janus_nursery* nursery = open_nursery();
    janus_task tasks[5];
    for (janus_task& task : tasks) task = spawn(nursery, fn, channel);
    for (const janus_task& task : tasks)
      CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_BLOCKED; }));
    janus_nursery_cancel(nursery);
    CHECK_EQ(end(nursery), JANUS_CANCELLED);
  }
  int value;
  CHECK_EQ(janus_channel_try_recv(channel, &value), JANUS_E_WOULD_BLOCK);
  CHECK_EQ(janus_channel_try_send(channel, &value), JANUS_E_WOULD_BLOCK);
  janus_channel_release(channel);
}

// The channel is a lock with one token. The cancelled holder puts the token back.
std::int64_t hold_until_cancelled(void* lock) {
  auto* const channel = static_cast<janus_channel*>(lock);
  int token;
  if (janus_channel_recv(channel, &token) != 0) return -5;
  (void)yield_until_cancelled(nullptr);
  const int more = 2;
  if (janus_channel_send(channel, &token) != JANUS_CANCELLED) return -6;
  if (janus_channel_try_send(channel, &token) != 0) return -7;
  if (janus_channel_try_send(channel, &more) != JANUS_E_WOULD_BLOCK) return -8;
  if (janus_channel_try_recv(channel, &token) != 0) return -9;
  if (janus_channel_try_recv(channel, &token) != JANUS_E_WOULD_BLOCK) return -10;
  return janus_channel_try_send(channel, &token);
}

TASK_TEST(channel, a_cancelled_task_can_return_a_token) {
  janus_channel* const lock = janus_channel_create(sizeof(int), 1);
  int token = 1;
  CHECK_EQ(janus_channel_send(lock, &token), 0);
  janus_nursery* nursery = open_nursery();
  const janus_task holder = spawn(nursery, hold_until_cancelled, lock);
  CHECK(eventually(
      [&] { return janus_channel_try_send(lock, &token) == 0 && janus_channel_try_recv(lock, &token) == 0; }));
  CHECK_EQ(janus_task_cancel(holder), 0);
  CHECK_EQ(end(nursery), 0);
  CHECK_EQ(janus_channel_try_recv(lock, &token), 0);
  CHECK_EQ(token, 1);
  janus_channel_release(lock);
}

std::int64_t wait_for_close(void* channel) {
  int value;
  return janus_channel_recv(static_cast<janus_channel*>(channel), &value) == JANUS_E_CLOSED ? 0 : -5;
}

TASK_TEST(channel, closing_wakes_all_who_wait) {
  janus_channel* channel = janus_channel_create(sizeof(int), 0);
  janus_nursery* nursery = open_nursery();
  janus_task tasks[20];
  for (janus_task& task : tasks) task = spawn(nursery, wait_for_close, channel);
  for (const janus_task& task : tasks) CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_BLOCKED; }));
  CHECK_EQ(janus_channel_close(channel), 0);
  CHECK_EQ(end(nursery), 0);
  janus_channel_release(channel);
}

TASK_TEST(channel, references_keep_it) {
  janus_channel* channel = janus_channel_create(sizeof(int), 1);
  CHECK(janus_channel_retain(channel) == channel);
  janus_channel_release(channel);
  int value = 3;
  CHECK_EQ(janus_channel_send(channel, &value), 0);
  janus_channel_release(channel);
  CHECK_EQ(janus_channel_send(channel, &value), JANUS_E_STALE);
}

TASK_TEST(channel, its_memory_comes_back) {
  janus_channel_release(janus_channel_create(64, 1000));
  const std::uint64_t before = stats_of().bytes_in_use;
  for (int i = 0; i < 100; ++i) janus_channel_release(janus_channel_create(64, 1000));
  CHECK_LE(stats_of().bytes_in_use, before + 65536);
}

}  // namespace
