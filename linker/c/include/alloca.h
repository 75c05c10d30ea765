// SPDX-License-Identifier: Apache-2.0
// alloca.h: blocks on the stack of the task, which is small.
#ifndef JANUS_C_ALLOCA_H
#define JANUS_C_ALLOCA_H
#undef alloca
#define alloca(bytes) __builtin_alloca(bytes)
#endif
