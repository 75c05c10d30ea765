// SPDX-License-Identifier: Apache-2.0
// janus/rt/system.h: output, system calls, randomness, the end of the process. A part of janus/rt.h.
#ifndef JANUS_RT_SYSTEM_H
#define JANUS_RT_SYSTEM_H

#include <janus/rt/handles.h>

#ifdef __cplusplus
extern "C" {
#endif

// Writes formatted text. %d %i %u %x %X %o %b %c %s %p %% and %e %f %g %a with flags, width, precision and
// hh h l ll z t j L. At most 4 KiB are written, in one piece, or 255 bytes if memory is short. All digits of a double
// are exact; a long double is printed as the nearest double. Unsupported directives that compilers accept (%lc and %ls,
// %m, %n, %2$d) are printed as written, followed by "(not printed)"; nothing is written through %n, and later
// directives are printed correctly. Returns what janus_write returns; JANUS_E_STATE where there is no runtime yet
// [any].
JANUS_PRINTF(2, 3) int janus_print(int fd, const char* format, ...);
// Writes bytes. 0 when all are written. JANUS_CANCELLED: the caller was told to end, and would have had to wait for
// other writers or for room; some bytes may have been written. Other failures: a JANUS_E_*, or -errno with EACCES in
// place of EPERM, since -EPERM equals JANUS_CANCELLED. Up to 64 KiB of one call stay together; a longer call is written
// in pieces of 64 KiB, between which tasks that do not share the caller's outermost cage may write [any].
int janus_write(int fd, const void* bytes, size_t size);
// The Linux system call `nr`, with as many arguments as it has (up to 6, each an integer or pointer of 64 bits): its
// result or -errno. Costs 9 ops and 1 of `syscalls`; its worker runs no other task meanwhile. Functions of janus_blocking
// may call it, too [task].
int64_t janus_syscall(long nr, ...);
// Runs fn(arg) on a helper thread while the calling task waits and its worker goes on: for what holds its thread. fn's
// result, or JANUS_E_INVALID, JANUS_E_NO_CAP (the rights JANUS_CAP_SPAWN and JANUS_CAP_SYSCALL, or `syscalls`),
// JANUS_E_BUDGET, JANUS_E_NO_MEMORY (no thread) or JANUS_CANCELLED; then fn was not called. Costs 9 ops and 1 of `syscalls`.
// A process has up to 64 helper threads, and an outermost cage up to 16 of them at once; other calls wait for one, and a
// cancel ends that wait. Once fn runs, the wait lasts until it has ended. fn runs on a stack of 256 KiB, no check in it gives
// way or spends ops, and a fault or janus_task_panic in it is the task's panic. It may call what threads outside tasks may
// call but what makes, runs and ends runtimes, and janus_syscall; if the task is in a cage or confined by a token, only
// janus_syscall, janus_now_ns, janus_unix_time_ns and janus_task_panic, and any other call is the task's panic. In
// deterministic mode all tasks wait meanwhile [task].
int64_t janus_blocking(janus_task_fn fn, void* arg);
// Fills `bytes` with random bytes, from the seed in deterministic mode. 0; -ENODEV: the machine has no source of random
// bytes [any].
int janus_entropy(void* bytes, size_t size);
// Ends the process at once. A task below an explicit budget panics instead [any].
JANUS_NORETURN void janus_exit(int status);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_RT_SYSTEM_H
