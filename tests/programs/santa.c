// SPDX-License-Identifier: Apache-2.0
// santa [SIZE]: Santa Claus sleeps until all nine reindeer are back, or three of ten elves want to ask something; if both are,
// the reindeer go first (Trono 1994). After SIZE deliveries everybody else is cancelled. One mutex guards all, and each group waits for a condition
// of its own. Prints how often Santa delivered, and whether any group was not of the right size.
#include <janus/sync.h>

#include "size.h"

enum { kReindeer = 9, kElves = 10, kElvesAtATime = 3 };

// Those who come, until there are enough; then Santa serves them, and others have to wait.
typedef struct {
  int enough, waiting, to_leave;  // to_leave: of those that were served
  janus_cond may_come, is_served;
  long times;
} group;

static janus_mutex lock;
static janus_cond santa_wakes;
static group reindeer = {.enough = kReindeer}, elves = {.enough = kElvesAtATime};
static long too_many;

// Waits for the condition until `holds`; false: the task was cancelled.
#define WAIT_UNTIL(condition, holds)              \
  while (!(holds)) {                              \
    if (janus_cond_wait(condition, &lock) != 0) { \
      janus_mutex_unlock(&lock);                  \
      return JANUS_CANCELLED;                     \
    }                                             \
  }

static int64_t come_again_and_again(void* arg) {
  group* own = arg;
  for (;;) {
    if (janus_mutex_lock(&lock) != 0) return JANUS_CANCELLED;
    WAIT_UNTIL(&own->may_come, own->to_leave == 0 && own->waiting < own->enough);
    if (++own->waiting > own->enough) ++too_many;
    if (own->waiting == own->enough) janus_cond_signal(&santa_wakes);
    const long before = own->times;
    WAIT_UNTIL(&own->is_served, own->times != before);
    if (--own->to_leave == 0) janus_cond_broadcast(&own->may_come);
    janus_mutex_unlock(&lock);
    janus_yield();
  }
}

static void serve(group* served) {
  served->to_leave = served->waiting;
  served->waiting = 0;
  ++served->times;
  janus_cond_broadcast(&served->is_served);
}

static int64_t deliver(void* size) {
  if (janus_mutex_lock(&lock) != 0) return JANUS_CANCELLED;
  while (reindeer.times < *(long*)size) {
    WAIT_UNTIL(&santa_wakes, reindeer.waiting == kReindeer || elves.waiting == kElvesAtATime);
    serve(reindeer.waiting == kReindeer ? &reindeer : &elves);
  }
  janus_mutex_unlock(&lock);
  return 0;
}

int main(int argc, char** argv) {
  long size = size_argument(argc, argv, 100, 1000000);
  janus_nursery* helpers = janus_nursery_open(NULL, NULL);
  for (int i = 0; i < kReindeer; i++) janus_nursery_spawn_in(helpers, come_again_and_again, &reindeer, NULL);
  for (int i = 0; i < kElves; i++) janus_nursery_spawn_in(helpers, come_again_and_again, &elves, NULL);
  janus_nursery* home = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(home, deliver, &size, NULL);
  const long status = janus_nursery_await(home, NULL);
  janus_nursery_destroy(home);
  janus_nursery_cancel(helpers);
  janus_nursery_await(helpers, NULL);
  janus_nursery_destroy(helpers);
  janus_print(1, "%ld deliveries, %ld groups too large\n", reindeer.times, too_many);
  return status != 0 || too_many != 0 || janus_mutex_lock(&lock) != 0;
}
