// SPDX-License-Identifier: Apache-2.0
// deaths WHICH: a fault or event that must end the whole machine, not one task.
#include <janus/rt.h>
#include <stddef.h>
#include <string.h>

static int64_t die_deaf(void* unused) {
  (void)unused;
  __asm__ volatile("cli; ud2");  // a fault with interrupts off, where the kernel part expects none
  return 0;
}

// Two tasks fault at the same time on two CPUs.
static int64_t die_together(void* unused) {
  static uint32_t here;
  __atomic_add_fetch(&here, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&here, __ATOMIC_RELAXED) < 2) continue;
  return die_deaf(unused);
}

struct __attribute__((packed)) table {
  uint16_t limit;
  uint64_t base;
};

// Makes the stack of the page fault handler an unmapped address, so that entering the handler faults again (a double
// fault).
static int64_t die_doubly(void* unused) {
  enum { kPageFault = 14, kIsts = 36 };  // the offset of the interrupt stack table in a task state segment
  struct table segments, vectors;
  uint16_t task;
  (void)unused;
  __asm__ volatile("cli; sgdt %0; sidt %1; str %2" : "=m"(segments), "=m"(vectors), "=m"(task));
  const uint64_t* const descriptor = (const uint64_t*)(segments.base + task);
  const uint64_t state = (descriptor[0] >> 16 & 0xffffff) | (descriptor[0] >> 56) << 24 | descriptor[1] << 32;
  const unsigned ist = ((const uint8_t*)(vectors.base + 16 * kPageFault))[4];
  const uint64_t nowhere = 0x1000 - 64;  // page 0 is never mapped
  memcpy((char*)state + kIsts + 8 * (ist - 1), &nowhere, sizeof nowhere);
  __asm__ volatile("movl $1, 0x10" : : : "memory");
  return 0;
}

// Sends a non-maskable interrupt to this CPU, by its APIC in the direct map of physical memory.
static int64_t die_unmasked(void* unused) {
  enum { kId = 0x20 / 4, kCommand = 0x300 / 4, kNonMaskable = 0x400 };
  volatile uint32_t* const apic = (uint32_t*)(0xffff800000000000 + 0xfee00000);
  (void)unused;
  __asm__ volatile("cli");  // keeps the task on this CPU
  apic[kCommand + 4] = apic[kId];
  apic[kCommand] = kNonMaskable;
  for (;;) __asm__ volatile("pause");
  return 0;
}

static int64_t wait_for_it(void* unused) {
  (void)unused;
  janus_print(1, "here\n");
  for (;;) janus_yield();
  return 0;
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    janus_task_fn fn;
  } ways[] = {{"deaf", die_deaf},     {"together", die_together}, {"together", die_together},
              {"double", die_doubly}, {"nmi", die_unmasked},      {"wait", wait_for_it}};
  if (argc == 2 && strcmp(argv[1], "main") == 0) __asm__ volatile("movl $1, 0x10" : : : "memory");
  janus_nursery_create();
  for (unsigned n = 0; n < sizeof ways / sizeof *ways; ++n)
    if (argc == 2 && strcmp(argv[1], ways[n].name) == 0) janus_nursery_spawn(ways[n].fn, NULL);
  janus_nursery_await_all();
  return 0;
}
