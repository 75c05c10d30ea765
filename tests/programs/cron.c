// SPDX-License-Identifier: Apache-2.0
// cron [SIZE]: three jobs, every second, third and fifth tick of 100 us, for SIZE ticks. Each sleeps until the time of its next
// run, not for a period, so that it does not drift; and runs that are late are made up for. Prints how often each has run.
#include "size.h"

typedef struct {
  const char* name;
  uint64_t every;
  long runs;
} job;

static const uint64_t kTick = 100000;
static uint64_t started, ticks;

static int64_t repeat(void* arg) {
  job* this = arg;
  for (uint64_t at = this->every; at <= ticks; at += this->every) {
    if (janus_sleep_until(started + at * kTick) != 0) return JANUS_CANCELLED;
    if (janus_now_ns() < started + at * kTick) return -2;
    ++this->runs;
  }
  return 0;
}

int main(int argc, char** argv) {
  ticks = (uint64_t)size_argument(argc, argv, 100, 100000);
  static job jobs[] = {{"backup", 2, 0}, {"report", 3, 0}, {"rotate", 5, 0}};
  started = janus_now_ns();
  janus_nursery* table = janus_nursery_open(NULL, NULL);
  for (int i = 0; i < 3; i++) janus_nursery_spawn_in(table, repeat, &jobs[i], NULL);
  const long status = janus_nursery_await(table, NULL);
  janus_nursery_destroy(table);
  for (int i = 0; i < 3; i++) janus_print(1, "%s %ld\n", jobs[i].name, jobs[i].runs);
  return status != 0;
}
