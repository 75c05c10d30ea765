// SPDX-License-Identifier: Apache-2.0
// Bare: no, it reads its own stderr through a pipe
// Names and reasons with line ends and terminal escapes appear on stderr escaped, in the line of their task.
#include <sys/syscall.h>

#include "hostile.h"

static int64_t panic(void* reason) {
  janus_task_panic((const char*)reason);
}

static int64_t rename_and_panic(void* name) {
  CHECK_EQ(janus_task_set_name((const char*)name), 0);
  return panic((void*)"as announced");
}

int main(void) {
  static const char evil[] = "x'\njanus: 1 'main' \x1b[2J\r\x07\x9b\x7f";
  int ends[2];
  static char said[1 << 16];
  CHECK_EQ(janus_syscall(SYS_pipe2, ends, 0), 0);
  const int stderr_before = (int)janus_syscall(SYS_dup, 2);
  CHECK_EQ(janus_syscall(SYS_dup2, ends[1], 2), 2);
  const janus_nursery_options nursery_named = {.on_error = JANUS_ON_ERROR_COLLECT, .name = evil};
  const janus_spawn_options task_named = {.name = evil, .stack_size = 65536};
  janus_nursery* nursery = janus_nursery_open(NULL, &nursery_named);
  janus_nursery_spawn_in(nursery, panic, (void*)evil, &task_named);
  spawn_roomy(nursery, rename_and_panic, (void*)evil);
  spawn_roomy(nursery, panic, (void*)evil);
  CHECK_EQ(close_cage(nursery), JANUS_PANIC);
  janus_syscall(SYS_dup2, stderr_before, 2);
  janus_syscall(SYS_close, ends[1]);
  long length = 0;
  for (int64_t read; (read = janus_syscall(SYS_read, ends[0], said + length, sizeof said - 1 - length)) > 0;)
    length += read;
  CHECK_THAT(length, length > 100);
  int at_begin = 1, panics = 0;
  for (long i = 0; i < length; ++i) {
    const unsigned char c = (unsigned char)said[i];
    if (at_begin) CHECK_EQ(strncmp(said + i, "janus: ", 7), 0);
    if (at_begin) CHECK(strncmp(said + i, "janus: 1 'main'", 15) != 0);
    if (at_begin) panics += strncmp(said + i, "janus: task ", 12) == 0;
    CHECK_THAT(c, c == '\n' || (c >= 32 && c < 127));
    at_begin = c == '\n';
  }
  CHECK_EQ(panics, 3);
  return end();
}
