// SPDX-License-Identifier: Apache-2.0
// malloc.h: functions that other systems have in addition to those of stdlib.h.
#ifndef JANUS_C_MALLOC_H
#define JANUS_C_MALLOC_H
#include <stdlib.h>

__BEGIN_DECLS
void* memalign(size_t alignment, size_t bytes) __JANUS_NOTHROW __JANUS_MALLOC;
__END_DECLS
#endif
