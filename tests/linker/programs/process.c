// SPDX-License-Identifier: Apache-2.0
// process.c: the beginning and the end of a program. The first argument chooses the case.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <janus/rt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(const char* text) {
  janus_write(1, text, strlen(text));
}
static void first(void) {
  say("first registered\n");
}
static void second(void) {
  say("second registered\n");
}

__attribute__((constructor)) static void before(void) {
  if (janus_task_id() == 1) say("constructor in the root task\n");
}
__attribute__((destructor)) static void after(void) {
  say("destructor\n");
}

static int64_t leave(void* status) {
  exit(*(int*)status);
}
static int64_t fail_to_open(void* arg) {
  (void)arg;
  return open("/nowhere", O_RDONLY) == -1 && errno == ENOENT ? 0 : -1;
}

int main(int argc, char** argv, char** envp) {
  const char* what = argc > 1 ? argv[1] : "return";
  atexit(first);
  atexit(second);
  if (strcmp(what, "return") == 0) return argc > 2 ? atoi(argv[2]) : 0;
  if (strcmp(what, "exit") == 0) exit(atoi(argv[2]));
  if (strcmp(what, "_exit") == 0) _exit(atoi(argv[2]));
  if (strcmp(what, "abort") == 0) abort();
  if (strcmp(what, "assert") == 0) assert(argc == 0);
  if (strcmp(what, "exit-in-task") == 0) {
    int status = 9;
    janus_nursery_create();
    janus_nursery_spawn(leave, &status);
    janus_nursery_await_all();
    return 1;
  }
  if (strcmp(what, "errno") == 0) {
    errno = 77;
    janus_nursery_create();
    for (int i = 0; i < 50; i++) janus_nursery_spawn(fail_to_open, NULL);
    if (janus_nursery_await_all() != 0) return 1;
    return errno;
  }
  if (strcmp(what, "environment") == 0) {
    const char* value = getenv("GREETING");
    say(value == NULL ? "none" : value);
    say(envp == environ ? "\n" : " and two environments\n");
    return 0;
  }
  return 100;
}
