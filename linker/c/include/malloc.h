// SPDX-License-Identifier: Apache-2.0
// malloc.h: memalign, which other C libraries have in addition to the functions of stdlib.h.
#ifndef JANUS_C_MALLOC_H
#define JANUS_C_MALLOC_H
#include <stdlib.h>

__BEGIN_DECLS
void* memalign(size_t alignment, size_t bytes) __JANUS_NOTHROW __JANUS_MALLOC;
__END_DECLS
#endif
