// SPDX-License-Identifier: Apache-2.0
// runtime_test.cpp — the whole runtime on the hosted platform, under a sanitizer: stacks are entered, left, abandoned
// and reused thousands of times, on several workers and in deterministic mode.
#include <janus/rt.h>

#include "tests/harness/test.h"

namespace {

std::int64_t fib(void* arg) {
  const auto n = reinterpret_cast<std::int64_t>(arg);
  if (n < 2) return n;
  std::int64_t left = 0;
  janus_nursery* nursery = janus_nursery_open(nullptr, nullptr);
  const janus_task task = janus_nursery_spawn_in(nursery, fib, reinterpret_cast<void*>(n - 1), nullptr);
  const std::int64_t right = fib(reinterpret_cast<void*>(n - 2));
  if (janus_task_join(task, &left) != 0) return -5;
  if (janus_nursery_await(nursery, nullptr) != 0) return -6;
  janus_nursery_destroy(nursery);
  return left + right;
}

// Yields in the middle of a function whose frame a sanitizer surrounds with red zones.
std::int64_t yield_often(void* arg) {
  char frame[64] = {};
  for (int i = 0; i < 500; ++i) {
    frame[i % 64] = static_cast<char>(i);
    if (janus_yield() != 0) return -1;
    static_cast<std::int64_t*>(arg)[0] += frame[i % 64] == static_cast<char>(i);
  }
  return 0;
}

std::int64_t yielders(void*) {
  constexpr int kTasks = 20;
  std::int64_t counts[kTasks] = {};
  janus_nursery* nursery = janus_nursery_open(nullptr, nullptr);
  for (auto& count : counts) janus_nursery_spawn_in(nursery, yield_often, &count, nullptr);
  if (janus_nursery_await(nursery, nullptr) != 0) return -5;
  janus_nursery_destroy(nursery);
  for (const auto count : counts)
    if (count != 500) return -6;
  return 1;
}

std::int64_t echo(void* arg) {
  auto** channels = static_cast<janus_channel**>(arg);
  long value = 0;
  while (janus_channel_recv(channels[0], &value) == 0)
    if (janus_channel_send(channels[1], &value) != 0) return -1;
  return 0;
}

std::int64_t wake_with_newest(void*) {
  janus_channel* channels[2] = {janus_channel_create(sizeof(long), 0), janus_channel_create(sizeof(long), 1)};
  janus_nursery* nursery = janus_nursery_open(nullptr, nullptr);
  janus_nursery_spawn_in(nursery, echo, channels, nullptr);
  std::int64_t good = 0;
  for (long i = 0; i < 2000; ++i) {
    long value = i;
    good += janus_channel_send(channels[0], &value) == 0 && janus_channel_recv(channels[1], &value) == 0 && value == i;
  }
  janus_channel_close(channels[0]);
  const long end = janus_nursery_await(nursery, nullptr);
  janus_nursery_destroy(nursery);
  for (janus_channel* channel : channels) janus_channel_release(channel);
  return end == 0 ? good : end;
}

std::int64_t wait_for_ever(void*) {
  return janus_park(-1);
}

// Cancels a tree of tasks, half of which are blocked.
std::int64_t cancelled_tree(void*) {
  for (int round = 0; round < 50; ++round) {
    janus_nursery* nursery = janus_nursery_open(nullptr, nullptr);
    for (int i = 0; i < 20; ++i) {
      janus_nursery_spawn_in(nursery, wait_for_ever, nullptr, nullptr);
      janus_nursery_spawn_in(nursery, fib, reinterpret_cast<void*>(5), nullptr);
    }
    janus_yield();
    janus_nursery_cancel(nursery);
    // JANUS_CANCELLED, or a child's error that follows from it
    if (janus_nursery_await(nursery, nullptr) >= 0) return -5;
    janus_nursery_destroy(nursery);
  }
  return 1;
}

std::int64_t panic(void*) {
  char frame[64];
  asm volatile("" : : "r"(frame) : "memory");
  janus_task_panic("on purpose");
}

// A panic abandons a stack in the middle of its frames; the stack must be usable by other tasks afterwards.
std::int64_t panics(void*) {
  for (int round = 0; round < 50; ++round) {
    janus_nursery* nursery = janus_nursery_open(nullptr, nullptr);
    janus_nursery_spawn_in(nursery, panic, nullptr, nullptr);
    if (janus_nursery_await(nursery, nullptr) != JANUS_PANIC) return -5;
    janus_nursery_destroy(nursery);
    if (yielders(nullptr) != 1) return -6;
  }
  return 1;
}

long run(janus_task_fn fn, void* arg, std::uint32_t workers, std::uint32_t flags) {
  janus_rt_config config{};
  config.size = sizeof config;
  config.worker_count = workers;
  config.flags = flags;
  config.memory = 1u << 30;
  janus_rt* rt = janus_rt_create(&config);
  if (rt == nullptr) return -100;
  const long result = janus_rt_run(rt, fn, arg);
  janus_rt_destroy(rt);
  return result;
}

#define ON_EVERY_KIND_OF_WORKER(name, fn, arg, wanted)         \
  TEST(hosted_runtime, name##_on_one_worker) {                 \
    CHECK_EQ(run(fn, arg, 1, 0), wanted);                      \
  }                                                            \
  TEST(hosted_runtime, name##_on_four_workers) {               \
    CHECK_EQ(run(fn, arg, 4, 0), wanted);                      \
  }                                                            \
  TEST(hosted_runtime, name##_in_deterministic_mode) {         \
    CHECK_EQ(run(fn, arg, 4, JANUS_RT_DETERMINISTIC), wanted); \
  }

ON_EVERY_KIND_OF_WORKER(fork_join, fib, reinterpret_cast<void*>(15), 610)
ON_EVERY_KIND_OF_WORKER(yields, yielders, nullptr, 1)
ON_EVERY_KIND_OF_WORKER(hand_overs, wake_with_newest, nullptr, 2000)
ON_EVERY_KIND_OF_WORKER(cancelled_trees, cancelled_tree, nullptr, 1)
ON_EVERY_KIND_OF_WORKER(panics, panics, nullptr, 1)

}  // namespace
