// SPDX-License-Identifier: Apache-2.0
// philosophers [SIZE]: five philosophers at a table with five forks (mutexes), each of whom eats SIZE times with two of them.
// First each takes the fork with the lower number first, so that no circle can close. Then each takes the left one first, and at the first meal
// all hold theirs before anybody asks for the right one: the lock that closes the circle answers JANUS_E_DEADLOCK, and its philosopher
// puts the left fork back for the others.
#include <janus/sync.h>

#include "size.h"

enum { kSeats = 5 };

typedef struct {
  int number;
  long meals, gave_way;
} philosopher;

static janus_mutex forks[kSeats];
static int in_use[kSeats];  // guarded by the fork
static janus_barrier all_hold_one;
static long size, mistakes;

static void eat(philosopher* self, int one, int other) {
  if (in_use[one]++ != 0 || in_use[other]++ != 0) __atomic_fetch_add(&mistakes, 1, __ATOMIC_RELAXED);
  janus_yield();
  --in_use[one];
  --in_use[other];
  ++self->meals;
}

static int64_t dine_in_order(void* arg) {
  philosopher* self = arg;
  const int left = self->number, right = (self->number + 1) % kSeats;
  janus_mutex* first = &forks[left < right ? left : right];
  janus_mutex* second = &forks[left < right ? right : left];
  for (long i = 0; i < size; i++) {
    if (janus_mutex_lock(first) != 0 || janus_mutex_lock(second) != 0) return -2;
    eat(self, left, right);
    janus_mutex_unlock(second);
    janus_mutex_unlock(first);
  }
  return 0;
}

static int64_t dine_greedily(void* arg) {
  philosopher* self = arg;
  const int left = self->number, right = (self->number + 1) % kSeats;
  int is_first = 1;
  while (self->meals < size) {
    if (janus_mutex_lock(&forks[left]) != 0) return -2;
    if (is_first) janus_barrier_wait(&all_hold_one);
    is_first = 0;
    const int answer = janus_mutex_lock(&forks[right]);
    if (answer == 0) {
      eat(self, left, right);
      janus_mutex_unlock(&forks[right]);
    } else if (answer == JANUS_E_DEADLOCK) {
      ++self->gave_way;
    } else {
      return -2;
    }
    janus_mutex_unlock(&forks[left]);
    janus_yield();
  }
  return 0;
}

// How often somebody had to give way, or -1 if something went wrong.
static long dine(janus_task_fn how) {
  philosopher all[kSeats];
  janus_nursery* table = janus_nursery_open(NULL, NULL);
  for (int i = 0; i < kSeats; i++) {
    all[i] = (philosopher){i, 0, 0};
    janus_nursery_spawn_in(table, how, &all[i], NULL);
  }
  const long status = janus_nursery_await(table, NULL);
  janus_nursery_destroy(table);
  long gave_way = 0;
  for (int i = 0; i < kSeats; i++) {
    if (all[i].meals != size) return -1;
    gave_way += all[i].gave_way;
  }
  return status == 0 && mistakes == 0 ? gave_way : -1;
}

int main(int argc, char** argv) {
  size = size_argument(argc, argv, 1000, 1000000);
  janus_barrier_init(&all_hold_one, kSeats);
  const long in_order = dine(dine_in_order), greedily = dine(dine_greedily);
  janus_print(1, "in order: %ld meals each, %s\n", size, in_order == 0 ? "nobody gave way" : "wrong");
  janus_print(1, "greedily: %ld meals each, %s\n", size, greedily > 0 ? "some gave way" : "wrong");
  return in_order != 0 || greedily <= 0;
}
