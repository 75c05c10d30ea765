// SPDX-License-Identifier: Apache-2.0
// faults: each way in which a task can fault, each in its own task. The program goes on.
#include <janus/rt.h>
#include <stddef.h>

static volatile int zero;

static int64_t descend(void* depth) {
  volatile char frame[2000];
  frame[0] = (char)(intptr_t)depth;
  if (zero != 0) return 0;
  return descend((void*)((intptr_t)depth + frame[0] + 1)) + frame[0];
}
static int64_t write_wildly(void* unused) {
  (void)unused;
  *(volatile int*)0x12345678 = 1;
  return 0;
}
static int64_t read_null(void* unused) {
  (void)unused;
  return *(volatile int*)(intptr_t)zero;
}
static int64_t read_no_address(void* unused) {
  (void)unused;
  return *(volatile int*)0x8000123412341234ul;
}
static int64_t write_text(void* unused) {
  (void)unused;
  *(volatile char*)(intptr_t)&read_null = 0;
  return 0;
}
static int64_t write_constant(void* unused) {
  static const volatile char constant[] = "constant";
  (void)unused;
  *(volatile char*)(intptr_t)constant = 'C';
  return 0;
}
static int64_t execute_data(void* unused) {
  static char ret[] = {(char)0xc3};
  (void)unused;
  ((void (*)(void))(intptr_t)ret)();
  return 0;
}
static int64_t execute_nonsense(void* unused) {
  (void)unused;
  __asm__ volatile("ud2");
  return 0;
}
static int64_t divide(void* unused) {
  (void)unused;
  int quotient;
  __asm__ volatile("cltd; idivl %1" : "=a"(quotient) : "m"(zero), "0"(1) : "edx", "cc");
  return quotient;
}
static int64_t stop(void* unused) {
  (void)unused;
  __asm__ volatile("int3");
  return 0;
}
// With the x87 unit, since QEMU's emulated processor raises no SSE exceptions.
static int64_t divide_floats(void* unused) {
  (void)unused;
  const unsigned short unmasked = 0x37f & ~4u;
  __asm__ volatile("fldcw %0; fld1; fldz; fdivrp; fwait; fstp %%st(0)" : : "m"(unmasked) : "memory");
  return 0;
}

static int64_t write_what_cannot_be_read(void* arg) {
  (void)arg;
  return janus_write(1, (const void*)0x4000, 10);
}

int main(void) {
  static const janus_task_fn all[] = {descend,    write_wildly,   read_null,     read_no_address,
                                      write_text, write_constant, execute_data,  execute_nonsense,
                                      divide,     stop,           divide_floats, write_what_cannot_be_read};
  for (unsigned n = 0; n < sizeof all / sizeof *all; ++n) {
    janus_nursery_create();
    janus_nursery_spawn(all[n], NULL);
    const long result = janus_nursery_await_all();
    janus_print(1, "%u: %ld\n", n, result);
  }
  return 0;
}
