// SPDX-License-Identifier: Apache-2.0
// fiber.h — a fiber of the limit programs is a stack pointer, below which are six registers and an address. No mxcsr,
// no x87 control word, no guard, no scheduler. The assembler includes this file, too.
#pragma once

// What limit_switch leaves on the stack that it switches away from, from the stack pointer upward.
#define FRAME_BYTES 56
#define FRAME_R14 8
#define FRAME_R13 16
#define FRAME_R12 24
#define FRAME_RBX 32
#define FRAME_RIP 48

// Offsets in struct fork.
#define FORK_TOP 0
#define FORK_BOTTOM 64
#define FORK_BUFFER 72
#define FORK_MASK 80
#define FORK_STACKS 88

#ifndef __ASSEMBLER__
#include <stddef.h>

// Stores this stack's pointer in *from, and continues where `to` was left.
__attribute__((visibility("hidden"))) void limit_switch(void** from, void* to);

// A stack that calls entry(arg) when it is first switched to; entry must not return.
void* fiber_on(void* stack_top, void (*entry)(void*), void* arg);
void limit_fiber_start(void);

// `bytes` of fresh memory; ends the program if there is none.
void* pages(size_t bytes);
#endif
