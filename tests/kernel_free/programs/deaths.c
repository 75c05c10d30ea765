// SPDX-License-Identifier: Apache-2.0
// deaths WHICH: ways in which the whole machine ends, not a task alone.
#include <janus/rt.h>
#include <stddef.h>
#include <string.h>

static int64_t die_deaf(void* unused) {
  (void)unused;
  __asm__ volatile("cli; ud2");  // a fault where the machine does not expect one
  return 0;
}
static int64_t die_doubly(void* unused) {
  (void)unused;
  __asm__ volatile("int $8");
  return 0;
}
static int64_t die_unmasked(void* unused) {
  (void)unused;
  __asm__ volatile("int $2");
  return 0;
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    janus_task_fn fn;
  } ways[] = {{"deaf", die_deaf}, {"double", die_doubly}, {"nmi", die_unmasked}};
  if (argc == 2 && strcmp(argv[1], "main") == 0) __asm__ volatile("movl $1, 0x10" : : : "memory");
  janus_nursery_create();
  for (unsigned n = 0; n < sizeof ways / sizeof *ways; ++n)
    if (argc == 2 && strcmp(argv[1], ways[n].name) == 0) janus_nursery_spawn(ways[n].fn, NULL);
  janus_nursery_await_all();
  return 0;
}
