// SPDX-License-Identifier: Apache-2.0
// reports HOW: a program with a report function, which prints what it is told on stdout. process_test.py checks what goes to
// stderr besides: nothing, unless the function returns another value than 0, or panics.
#include <janus/rt.h>
#include <string.h>

static int answer;
static int shall_panic;

static int report(const janus_report* report) {
  const char* nothing = "";
  janus_print(1, "%u %u %u %d '%s' %s\n", report->event, report->kind, report->cause, (int)report->code, report->name,
              report->nursery_path[0] ? report->nursery_path : nothing);
  if (shall_panic) *(volatile int*)0x10 = 1;
  return answer;
}

const janus_rt_config janus_config = {.report = report, .report_failures = 1};

static int64_t panic(void* arg) {
  (void)arg;
  janus_task_panic("for the report");
}
static int64_t fail(void* arg) {
  (void)arg;
  return -7;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  answer = strstr(how, "both") != NULL;
  shall_panic = strstr(how, "left") != NULL;
  janus_nursery* nursery =
      janus_nursery_open(NULL, &(janus_nursery_options){.name = "work", .on_error = JANUS_ON_ERROR_COLLECT});
  if (strstr(how, "deadlock")) return janus_park(-1);
  if (strstr(how, "unread")) janus_nursery_spawn_in(nursery, fail, NULL, NULL);
  if (strstr(how, "main")) janus_task_panic("main has had enough");
  if (strstr(how, "panic")) {
    janus_nursery_spawn_in(nursery, panic, NULL, &(janus_spawn_options){.name = "one"});
    return janus_nursery_await(nursery, NULL) == JANUS_PANIC ? 0 : 1;
  }
  return 0;
}
