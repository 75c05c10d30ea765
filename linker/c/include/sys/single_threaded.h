// SPDX-License-Identifier: Apache-2.0
// sys/single_threaded.h: tells libstdc++ whether it may do without atomic operations. Never: tasks share memory.
#ifndef JANUS_C_SYS_SINGLE_THREADED_H
#define JANUS_C_SYS_SINGLE_THREADED_H
#include <sys/cdefs.h>

__BEGIN_DECLS
extern char __libc_single_threaded;
__END_DECLS
#endif
