// SPDX-License-Identifier: Apache-2.0
// at_exit.c: what a program wants done at its end, a stack. Any task may register; who ends the program pops.
#include <janus/rt.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "linker/c/src/define.h"
#include "linker/start/program.h"

struct at_exit {
  void (*destructor)(void*);  // NULL: `function` instead
  void* argument;
  void (*function)(void);
  struct at_exit* next;
};

static _Atomic(struct at_exit*) newest;

// The first ones need no memory: C++ programs register before main, and C promises 32.
enum { FIRST_COUNT = 32 };
static struct at_exit first[FIRST_COUNT];
static atomic_uint first_taken;

static struct at_exit* take_record(void) {
  const unsigned index = atomic_fetch_add(&first_taken, 1);
  if (index < FIRST_COUNT) return &first[index];
  atomic_store(&first_taken, FIRST_COUNT);  // never wraps
  return janus_alloc(sizeof(struct at_exit));
}

static int push(void (*destructor)(void*), void* argument, void (*function)(void)) {
  struct at_exit* record = take_record();
  if (record == NULL) return -1;
  *record = (struct at_exit){destructor, argument, function, atomic_load(&newest)};
  while (!atomic_compare_exchange_weak(&newest, &record->next, record)) {
  }
  return 0;
}

int __cxa_atexit(void (*destructor)(void*), void* argument, void* library) {
  (void)library;
  return push(destructor, argument, NULL);
}

JANUS_C_DEFINE int atexit(void (*function)(void)) {
  return push(NULL, NULL, function);
}

// Records are not freed: the program ends, and a record that stays what it is cannot be taken for another one (ABA).
static struct at_exit* pop(void) {
  struct at_exit* record = atomic_load(&newest);
  while (record != NULL && !atomic_compare_exchange_weak(&newest, &record, record->next)) {
  }
  return record;
}

void janus_run_at_exit(void) {
  for (struct at_exit* record; (record = pop()) != NULL;) {
    if (record->destructor != NULL)
      record->destructor(record->argument);
    else
      record->function();
  }
}
