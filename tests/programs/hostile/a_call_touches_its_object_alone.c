// SPDX-License-Identifier: Apache-2.0
// Bare: no, it maps pages by system calls
// Elements, names, results, options and buffers that end where memory ends, or begin where it begins: no call reads or
// writes a byte beside them, not even to test access.
#include "calls.h"

enum { kPage = 4096, kPages = 4 };

// kPages writable pages, with nothing mapped before and behind.
static char *low, *high;

static void map_an_island(void) {
  char* pages = (char*)(uintptr_t)janus_syscall(SYS_mmap, NULL, (kPages + 2) * kPage, 3, 0x22, -1, 0);
  low = pages + kPage;
  high = low + kPages * kPage;
  CHECK_EQ(janus_syscall(SYS_munmap, pages, kPage), 0);
  CHECK_EQ(janus_syscall(SYS_munmap, high, kPage), 0);
}

static int64_t send_it(void* channel) {
  return janus_channel_send((janus_channel*)channel, high - 1);
}

static int64_t exchange(void* size_of_it) {
  const size_t size = (size_t)(uintptr_t)size_of_it;
  for (size_t capacity = 0; capacity < 2; ++capacity)
    for (int at_end = 0; at_end < 2; ++at_end) {
      char* element = at_end ? high - size : low;
      char* other = at_end ? low : high - size;
      janus_channel* channel = janus_channel_create(size, capacity);
      if (!CHECK(channel != NULL)) return -1;
      memset(element, at_end + 1, size);
      CHECK_EQ(janus_channel_try_recv(channel, element), JANUS_E_WOULD_BLOCK);
      if (capacity > 0) {
        CHECK_EQ(janus_channel_send(channel, element), 0);
        CHECK_EQ(janus_channel_try_send(channel, element), JANUS_E_WOULD_BLOCK);
        CHECK_EQ(janus_channel_recv(channel, 2 * size <= kPages * kPage ? other : element), 0);
        CHECK_EQ(element[0], at_end + 1);
        CHECK_EQ(janus_channel_try_send(channel, element), 0);
        CHECK_EQ(janus_channel_try_recv(channel, element), 0);
      } else if (size == 1) {
        janus_nursery* nursery = open_plain();
        spawn_roomy(nursery, send_it, channel);
        CHECK_EQ(janus_channel_recv(channel, element), 0);
        CHECK_EQ(close_cage(nursery), 0);
      }
      janus_channel_release(channel);
    }
  return 0;
}

static int64_t fail_by_itself(void* unused) {
  (void)unused;
  return 7;
}

static int64_t use_structs(void* unused) {
  (void)unused;
  janus_nursery_options* nursery_options = (janus_nursery_options*)(high - sizeof *nursery_options);
  janus_spawn_options* spawn_options = (janus_spawn_options*)low;
  memset(nursery_options, 0, sizeof *nursery_options);
  memset(spawn_options, 0, sizeof *spawn_options);
  janus_nursery* nursery = janus_nursery_open(NULL, nursery_options);
  const janus_task task = janus_nursery_spawn_in(nursery, fail_by_itself, NULL, spawn_options);
  int64_t* value = (int64_t*)(high - sizeof *value);
  CHECK_EQ(janus_task_join(task, value), 0);
  CHECK_EQ(*value, 7);
  janus_result* result = (janus_result*)(high - sizeof *result);
  CHECK_EQ(janus_task_result(task, result), 0);
  CHECK_EQ(result->code, 7);
  CHECK_EQ(janus_nursery_await(nursery, result), 0);
  CHECK_EQ(janus_nursery_try_result(nursery, (janus_result*)low), 0);
  CHECK_EQ(janus_nursery_destroy(nursery), 0);
  janus_stats* stats = (janus_stats*)(high - 24);
  stats->size = 24;  // its first three fields
  janus_rt_stats(NULL, stats);
  CHECK(stats->tasks_spawned > 0);
  return 0;
}

static int64_t use_texts(void* unused) {
  (void)unused;
  char* name = high - 5;
  memcpy(name, "name", 5);
  CHECK_EQ(janus_task_set_name(name), 0);
  const janus_nursery_options nursery_options = {.name = name};
  const janus_spawn_options spawn_options = {.name = name};
  janus_nursery* nursery = janus_nursery_open(NULL, &nursery_options);
  CHECK(janus_nursery_spawn_in(nursery, return_nothing, NULL, &spawn_options).raw != 0);
  CHECK_EQ(janus_nursery_await(nursery, NULL), 0);
  CHECK_EQ(janus_nursery_destroy(nursery), 0);
  CHECK_EQ(janus_print(null_file, "%s", name), 0);
  CHECK_EQ(janus_print(null_file, "%.4s", high - 4), 0);  // no terminator: the precision ends it
  int (*volatile print)(int, const char*, ...) = janus_print;
  CHECK_EQ(print(null_file, name), 0);
  CHECK_EQ(janus_write(null_file, high - 3, 3), 0);
  CHECK_EQ(janus_entropy(high - 100, 100), 0);
  CHECK_EQ(janus_entropy(low, 7), 0);
  return 0;
}

static int64_t attack(void* unused) {
  (void)unused;
  static const size_t sizes[] = {1,  2,  3,   7,   8,    9,    15,   16,   17,    31,
                                 33, 64, 100, 255, 3000, 4095, 4096, 4097, 10000, 16384};
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    CHECK_EQ(run_in_cage(roomy(), exchange, (void*)sizes[i]), 0);
  janus_budget budget = roomy();
  budget.syscalls = 1000;
  CHECK_EQ(run_in_cage(budget, use_structs, NULL), 0);
  CHECK_EQ(run_in_cage(budget, use_texts, NULL), 0);
  return 0;
}

int main(void) {
  open_null_file();
  map_an_island();
  for (int i = 0; i < 5; ++i) CHECK_EQ(beside_a_neighbour(100, attack, NULL), 0);
  return end();
}
