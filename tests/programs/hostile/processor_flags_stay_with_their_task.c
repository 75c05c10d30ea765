// SPDX-License-Identifier: Apache-2.0
// Changes of the processor's flags and control words by assembly, which the runtime undoes: rounding and unmasked
// exceptions stay with the task; the alignment check is cleared; and when a task panics, its x87 stack, MMX registers
// and direction flag are reset. A task beside them computes, and compares the results.
#include <sys/syscall.h>

#include "hostile.h"

enum { kRounds = 300, kNumbers = 40 };

static void set_flags(uint64_t flags) {
  __asm__ volatile("sub $128, %%rsp; pushf; or %0, (%%rsp); popf; add $128, %%rsp" : : "r"(flags) : "memory", "cc");
}

static void set_words(uint32_t mxcsr, uint16_t x87) {
  __asm__ volatile("ldmxcsr %0; fldcw %1" : : "m"(mxcsr), "m"(x87));
}

// ---- Attackers: each is called repeatedly, and makes one change ----------------------------------------------------

static int64_t check_alignment(void* unused) {
  (void)unused;
  char bytes[16] = {0};
  set_flags(1 << 18 /* AC */);
  janus_yield();
  set_flags(1 << 18);
  __asm__ volatile("incl 1(%0)" : : "r"(bytes) : "memory");
  set_flags(1 << 18);
  return 0;  // and leaves the change to the next task
}

static int64_t round_up_and_trap(void* unused) {
  (void)unused;
  set_words(0x4000 /* up, nothing masked */, 0x0800 /* up, single precision, nothing masked */);
  for (int i = 0; i < 3; ++i) janus_yield();
  return 0;
}

static int64_t flush_to_zero(void* unused) {
  (void)unused;
  set_words(0xffc0 /* towards zero, denormals are zero */, 0x0c7f);
  for (int i = 0; i < 3; ++i) janus_yield();
  return 0;
}

static int64_t copy_backwards_and_fault(void* unused) {
  (void)unused;
  __asm__ volatile("std; ud2");
  return 0;
}

static int64_t fill_the_x87_stack_and_fault(void* unused) {
  (void)unused;
  __asm__ volatile("fld1; fld1; fld1; fld1; fld1; fld1; fld1; fld1; ud2");
  return 0;
}

static int64_t use_mmx_and_fault(void* unused) {
  (void)unused;
  __asm__ volatile("pcmpeqd %mm0, %mm0; movq %mm0, %mm7; ud2");
  return 0;
}

static const janus_task_fn attackers[] = {
    check_alignment,          round_up_and_trap, flush_to_zero,
    copy_backwards_and_fault, use_mmx_and_fault, fill_the_x87_stack_and_fault,
};
enum { kAttackers = sizeof attackers / sizeof *attackers };

// ---- The computing task --------------------------------------------------------------------------------------------

typedef struct results {
  double third, small;
  long double root, sum;
  char copied[kNumbers];
} results;

static void work_out(results* all) {
  volatile double one = 1, three = 3, tiny = 2e-308;
  volatile long double two = 2;
  memset(all, 0, sizeof *all);
  all->third = one / three;
  all->small = tiny / three;
  all->root = two;
  __asm__ volatile("fsqrt" : "+t"(all->root));
  for (int i = 1; i <= kNumbers; ++i) all->sum += 1 / (two + i);
  const char* from = "forwards, from the first to the last one";
  char* to = all->copied;
  uint64_t count = kNumbers;
  __asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(count) : : "memory");
  __asm__ volatile("incl 1(%0); decl 1(%0)" : : "r"(all->copied) : "memory");  // misaligned
}

static int is_equal(const results* a, const results* b) {
  return a->third == b->third && a->small == b->small && a->root == b->root && a->sum == b->sum &&
         memcmp(a->copied, b->copied, kNumbers) == 0;
}

static results expected;
static int is_over;
static long compared;

static int64_t compute(void* unused) {
  (void)unused;
  while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
    results mine;
    work_out(&mine);
    if (!CHECK(is_equal(&mine, &expected))) return -1;
    ++compared;
    janus_yield();
  }
  return 0;
}

static int64_t attack(void* unused) {
  (void)unused;
  for (int round = 0; round < kRounds; ++round) {
    janus_nursery* nursery = open_plain();
    for (int i = 0; i < kAttackers; ++i) spawn(nursery, attackers[(i + round) % kAttackers], NULL);
    janus_nursery_await(nursery, NULL);
    janus_nursery_destroy(nursery);
  }
  __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
  return 0;
}

int main(void) {
  const int null = (int)janus_syscall(SYS_openat, -100 /* AT_FDCWD */, "/dev/null", 1 /* O_WRONLY */, 0);
  const int stderr_before = (int)janus_syscall(SYS_dup, 2);
  janus_syscall(SYS_dup2, null, 2);
  work_out(&expected);
  janus_nursery* street = open_plain();
  spawn_roomy(street, compute, NULL);
  CHECK_EQ(run_in_cage(roomy(), attack, NULL), 0);
  CHECK_EQ(close_cage(street), 0);
  CHECK_THAT(compared, compared > 0);
  CHECK_EQ(read_accounts().stats.tasks_panicked, kRounds * 3);
  janus_syscall(SYS_dup2, stderr_before, 2);
  return end();
}
