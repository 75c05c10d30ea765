// SPDX-License-Identifier: Apache-2.0
// program.h: what the runtime calls in a program that has a main, and what is registered for the program's end.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The runtime's: 1 if the caller may end the process, 0 if janus_exit() would be its panic.
int janus_may_exit(void);

// What the kernel has answered to a write by janus_syscall: -EPIPE on descriptor 1 or 2 ends the program as a
// janus_write that meets it, unless the caller may not.
void janus_has_written(int fd, int64_t answer);

// In the root task: constructors of globals, then main. Gives main's value.
int64_t janus_run_main(int argc, char** argv, char** envp);

// In the root task once main's nurseries have ended, or in a task that calls exit(): what was registered for the end,
// newest first, then the destructors that the linker collected. Each runs once, whoever calls and how often. Nothing
// happens in a task that may not end the process; so, too, below.
void janus_run_fini(void);

// Runs what __cxa_atexit and atexit registered, newest first; what is registered meanwhile, too.
void janus_run_at_exit(void);

// Destructors of globals and of function-local statics, by the Itanium C++ ABI. 0, or -1 without memory, and in a task
// that may not end the process: at the end all of it runs as main, on main's budget.
int __cxa_atexit(void (*destructor)(void*), void* argument, void* library);

#ifdef __cplusplus
}
#endif
