// SPDX-License-Identifier: Apache-2.0
// A cage knows the pointer of an unrelated task's nursery, and the handle of a task in it, by accident or by guess. The
// nursery refuses tasks that are neither its owner nor below it, and no invented number is a handle.
#include "hostile.h"

typedef struct stranger {
  janus_nursery* nursery;
  janus_task task;
  int told_to_end;
  int ready;
} stranger;

static int64_t wait_for_the_end(void* arg) {
  stranger* self = (stranger*)arg;
  const int status = janus_park(-1);
  if (status == JANUS_CANCELLED) self->told_to_end = 1;
  return 0;
}

static int64_t intrude(void* unused) {
  (void)unused;
  janus_print(1, "a stranger's nursery lets a caged task in\n");
  return -1;
}

static int64_t use_his_nursery(void* arg) {
  stranger* his = (stranger*)arg;
  janus_result result;
  janus_budget much = {1000, 1000, 10, 10, 0};
  CHECK_EQ(janus_nursery_spawn_in(his->nursery, intrude, NULL, NULL).raw, 0);
  CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
  CHECK_EQ(janus_nursery_cancel(his->nursery), JANUS_E_NO_CAP);
  CHECK_EQ(janus_nursery_close(his->nursery), JANUS_E_NO_CAP);
  CHECK_EQ(janus_nursery_state(his->nursery), JANUS_E_NO_CAP);
  CHECK_EQ(janus_nursery_try_result(his->nursery, &result), JANUS_E_NO_CAP);
  CHECK_EQ(janus_nursery_recharge(his->nursery, much), JANUS_E_NO_CAP);
  CHECK_EQ(janus_budget_grant64(his->nursery, JANUS_COMPONENT_OPS, 1000), JANUS_E_NO_CAP);
  CHECK_EQ(janus_nursery_await(his->nursery, NULL), JANUS_E_NO_CAP);
  CHECK_EQ(janus_nursery_destroy(his->nursery), JANUS_E_NO_CAP);
  return 0;
}

// The attacker has the handle, but is not below the owner.
static int64_t use_his_handle(void* arg) {
  stranger* his = (stranger*)arg;
  int64_t value;
  janus_result result;
  CHECK_EQ(janus_task_join(his->task, &value), JANUS_E_NO_CAP);
  CHECK_EQ(janus_task_result(his->task, &result), JANUS_E_NO_CAP);
  CHECK_EQ(janus_task_release(his->task), JANUS_E_NO_CAP);
  return 0;
}

// Tries handles similar to its own, and small numbers, which a table might use.
static int64_t guess(void* arg) {
  (void)arg;
  const uint64_t own = janus_task_self().raw;
  int64_t hits = 0;
  for (uint64_t k = 1; k < 4096; ++k) {
    const uint64_t raws[] = {
        own + k,         own - k, own ^ k,       own ^ (k << 32), own ^ (k << 52),      own + (k << 32),
        own + (k << 24), k,       (k << 32) | 1, (k << 32) | k,   (uint64_t)1 << 32 | k};
    for (unsigned i = 0; i < sizeof raws / sizeof *raws; ++i) {
      const janus_task guessed = {raws[i]};
      if (guessed.raw == own) continue;
      hits += janus_task_state(guessed) >= 0;
      hits += janus_unpark(guessed) >= 0;
      if (janus_task_cancel(guessed) >= 0) ++hits;
    }
    if (janus_yield_check(40) < 0) return -1;
  }
  return hits;
}

// Owns the nursery, and is no ancestor of the attacker.
static int64_t own(void* arg) {
  stranger* self = (stranger*)arg;
  self->nursery = open_plain();
  self->task = spawn(self->nursery, wait_for_the_end, self);
  __atomic_store_n(&self->ready, 1, __ATOMIC_RELEASE);
  CHECK_EQ(janus_park(-1), 0);
  CHECK_EQ(janus_nursery_state(self->nursery), JANUS_NURSERY_OPEN);
  CHECK_EQ(janus_unpark(self->task), 0);
  CHECK_EQ(close_cage(self->nursery), 0);
  CHECK_EQ(self->told_to_end, 0);
  return 0;
}

static int64_t attack(void* arg) {
  CHECK_EQ(run_in_cage(roomy(), use_his_nursery, arg), 0);
  CHECK_EQ(run_in_cage(roomy(), use_his_handle, arg), 0);
  janus_nursery* cage = open_cage(roomy());
  int64_t hits = -1;
  const janus_task guessing = spawn_roomy(cage, guess, NULL);
  CHECK_EQ(janus_task_join(guessing, &hits), 0);
  CHECK_EQ(hits, 0);
  CHECK_EQ(close_cage(cage), 0);
  return 0;
}

int main(void) {
  enum { kHouses = 100 };
  static stranger strangers[kHouses];
  janus_task owners[kHouses];
  janus_nursery* street = open_plain();
  for (int i = 0; i < kHouses; ++i) owners[i] = spawn_roomy(street, own, &strangers[i]);
  for (int i = 0; i < kHouses; ++i)
    while (!__atomic_load_n(&strangers[i].ready, __ATOMIC_ACQUIRE)) janus_yield();
  CHECK_EQ(beside_a_neighbour(300, attack, &strangers[0]), 0);
  CHECK_EQ(janus_cancelled(), 0);
  for (int i = 0; i < kHouses; ++i) CHECK_EQ(janus_unpark(owners[i]), 0);
  CHECK_EQ(close_cage(street), 0);
  return end();
}
