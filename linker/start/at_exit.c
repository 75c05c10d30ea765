// SPDX-License-Identifier: Apache-2.0
// at_exit.c: the functions registered for the program's end, as a stack. Only tasks that
// may end the process push and pop.
#include <janus/rt.h>
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

static struct at_exit* newest;  // atomic

// The first records need no allocation: C++ programs register before main, and C guarantees 32.
enum { kFirstCount = 32 };
static struct at_exit first[kFirstCount];
static unsigned first_taken;  // atomic

static struct at_exit* take_record(void) {
  const unsigned index = __atomic_fetch_add(&first_taken, 1, __ATOMIC_RELAXED);
  if (index < kFirstCount) return &first[index];
  __atomic_store_n(&first_taken, kFirstCount, __ATOMIC_RELAXED);  // never wraps
  return janus_alloc(sizeof(struct at_exit));
}

// Registered functions run as main at the end, on main's budget, so a task with a budget of its own may not register
// any.
static int push(void (*destructor)(void*), void* argument, void (*function)(void)) {
  if (!janus_may_exit()) return -1;
  struct at_exit* record = take_record();
  if (record == NULL) return -1;
  *record = (struct at_exit){destructor, argument, function, __atomic_load_n(&newest, __ATOMIC_RELAXED)};
  // Release: pairs with the acquire in pop(), which then sees the whole record.
  while (!__atomic_compare_exchange_n(&newest, &record->next, record, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
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

// Returns the newest record, or NULL. Records are never freed: the program is about to end, and a record that is not
// reused cannot cause an ABA error.
static struct at_exit* pop(void) {
  struct at_exit* record = __atomic_load_n(&newest, __ATOMIC_ACQUIRE);
  while (record != NULL &&
         !__atomic_compare_exchange_n(&newest, &record, record->next, 1, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
  }
  return record;
}

void janus_run_at_exit(void) {
  if (!janus_may_exit()) return;
  for (struct at_exit* record; (record = pop()) != NULL;) {
    if (record->destructor != NULL)
      record->destructor(record->argument);
    else
      record->function();
  }
}
