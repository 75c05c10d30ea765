// SPDX-License-Identifier: Apache-2.0
// Bare: no, it maps and protects pages by system calls
// A print writes at most 4 KiB, so it reads no more of a string or format than it needs for that, and charges for what
// it reads: a megabyte costs as much as 4 KiB, and memory behind is not accessed.
#include <sys/syscall.h>

#include "hostile.h"

enum { kPage = 4096, kMany = 1 << 20, kOps = 5000 };

static int null_file;
static long prints;

static char* filled(char letter) {
  char* text = janus_alloc(kMany);
  memset(text, letter, kMany);
  text[kMany - 1] = '\0';
  return text;
}

// Eight pages, followed by an unreadable one.
static char* before_the_abyss(char letter) {
  const long pages =
      janus_syscall(SYS_mmap, 0L, 9L * kPage, 3L /* read, write */, 0x22L /* private, none's */, -1L, 0L);
  CHECK_THAT(pages, pages > 0);
  CHECK_EQ(janus_syscall(SYS_mprotect, pages + 8L * kPage, (long)kPage, 0L), 0);
  memset((char*)pages, letter, 8 * kPage);
  return (char*)pages;
}

static int64_t print_at_the_abyss(void* unused) {
  (void)unused;
  char* const letters = before_the_abyss('a');
  char* const flags = before_the_abyss('-');
  flags[0] = '%';
  CHECK_EQ(janus_print(null_file, "%s", letters), 0);
  CHECK_EQ(janus_print(null_file, "%6000s", letters), 0);
  CHECK_EQ(janus_print(null_file, "%-6000s%s", letters, letters), 0);
  CHECK_EQ(janus_print(null_file, letters), 0);
  CHECK_EQ(janus_print(null_file, flags, 1), 0);
  return 0;
}

static int64_t print_for_ever(void* text) {
  for (prints = 0; prints < 20 * kOps; ++prints) janus_print(null_file, "%s%s", (char*)text, (char*)text);
  return 0;
}

static int64_t print_nothing_for_ever(void* format) {
  for (prints = 0; prints < 20 * kOps; ++prints) janus_print(null_file, (char*)format, 1);
  return 0;
}

int main(void) {
  null_file = (int)janus_syscall(SYS_open, "/dev/null", 1 /* O_WRONLY */, 0);
  janus_nursery* house = open_plain();
  spawn_roomy(house, print_at_the_abyss, NULL);
  CHECK_EQ(close_cage(house), 0);

  const janus_budget budget = {kOps, (size_t)1 << 20, 1, 0, UINT16_MAX};
  char* const letters = filled('a');
  CHECK_EQ(run_in_cage(budget, print_for_ever, letters), JANUS_BUDGET_EXCEEDED);
  CHECK_THAT(prints, prints > 5 && prints <= kOps / 100);
  char* const flags = filled('-');
  flags[0] = '%';
  CHECK_EQ(run_in_cage(budget, print_nothing_for_ever, flags), JANUS_BUDGET_EXCEEDED);
  CHECK_THAT(prints, prints > 5 && prints <= kOps / 100);
  janus_free(letters);
  janus_free(flags);
  return end();
}
