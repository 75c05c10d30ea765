// SPDX-License-Identifier: Apache-2.0
// run_main.c: runs the constructors and main, and at the end the finalisers. The linker defines the bounds of the arrays:
// compilers put addresses of functions into .preinit_array, .init_array and .fini_array.
#include <stddef.h>
#include <unistd.h>

#include "linker/start/program.h"

int main(int argc, char** argv, char** envp);

typedef void (*initialiser)(int argc, char** argv, char** envp);
typedef void (*finaliser)(void);
extern const initialiser __preinit_array_start[], __preinit_array_end[], __init_array_start[], __init_array_end[];
extern const finaliser __fini_array_start[], __fini_array_end[];

// Compilers pass its address to __cxa_atexit to identify the library that a destructor belongs to. The program is the
// only one.
extern void* __dso_handle;
__attribute__((__visibility__("hidden"))) void* __dso_handle = NULL;

static void run(const initialiser* first, const initialiser* end, int argc, char** argv, char** envp) {
  for (; first != end; first++) (*first)(argc, argv, envp);
}

int64_t janus_run_main(int argc, char** argv, char** envp) {
  environ = envp;
  run(__preinit_array_start, __preinit_array_end, argc, argv, envp);
  run(__init_array_start, __init_array_end, argc, argv, envp);
  return main(argc, argv, envp);
}

void janus_run_fini(void) {
  static size_t taken;  // finalisers taken so far, so that two tasks that call exit() run none twice
  if (!janus_may_exit()) return;
  janus_run_at_exit();
  const size_t count = (size_t)(__fini_array_end - __fini_array_start);
  for (size_t next; (next = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED)) < count;)
    __fini_array_start[count - 1 - next]();
}
