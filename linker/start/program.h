// SPDX-License-Identifier: Apache-2.0
// program.h: functions that the runtime calls in a program that has a main, and the registration of functions for the
// program's end.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A function of the runtime: returns 1 if the caller may end the process, 0 if janus_exit() would panic it.
int janus_may_exit(void);

// A function of the runtime: as janus_task_panic, with one of JANUS_CAUSE_*.
__attribute__((noreturn)) void janus_panic_because(uint32_t cause, const char* why);

// A function of the runtime, called by a task that was told to end and cannot go on: ends it by force as if its function
// had returned JANUS_CANCELLED. In a task that was not told to end it panics.
__attribute__((noreturn)) void janus_end_as_cancelled(void);

// A function of the runtime, called with the kernel's answer to a write by janus_syscall: -EPIPE on descriptor 1 or 2
// ends the program as in janus_write, unless the caller may not end it.
void janus_has_written(int fd, int64_t answer);

// Called in the root task: runs the constructors of globals, then main. Returns main's value.
int64_t janus_run_main(int argc, char** argv, char** envp);

// Called in the root task once main's nurseries have ended, or in a task that calls exit(): runs the functions
// registered for the end, newest first, then the finalisers in .fini_array. Each runs once, even if several tasks call
// this, or one several times. Does nothing in a task that may not end the process.
void janus_run_fini(void);

// Runs the functions that __cxa_atexit and atexit registered, newest first, also those registered meanwhile. Does
// nothing in a task that may not end the process.
void janus_run_at_exit(void);

// Registers the destructor of a global or function-local static (Itanium C++ ABI). Returns 0; -1 if there is no memory,
// or if the task may not end the process: all destructors run as main, on main's budget.
int __cxa_atexit(void (*destructor)(void*), void* argument, void* library);

#ifdef __cplusplus
}
#endif
