// SPDX-License-Identifier: Apache-2.0
// fiber.h — a fiber of the limit programs is a stack pointer: six registers and an address lie below it. No mxcsr, no
// x87 word, no guard, no scheduler. Read by the assembler, too.
#pragma once

// What one call of limit_switch leaves on the stack that it leaves, from the stack pointer up.
#define FRAME_BYTES 56
#define FRAME_R14 8
#define FRAME_R13 16
#define FRAME_R12 24
#define FRAME_RBX 32
#define FRAME_RIP 48

// struct fork.
#define FORK_TOP 0
#define FORK_BOTTOM 64
#define FORK_BUFFER 72
#define FORK_MASK 80
#define FORK_STACKS 88

#ifndef __ASSEMBLER__
#include <stddef.h>

// Leaves this stack with its pointer in *from, goes on where `to` was left.
__attribute__((visibility("hidden"))) void limit_switch(void** from, void* to);

// A stack that begins, when it is switched to, with entry(arg); which does not return.
void* fiber_on(void* stack_top, void (*entry)(void*), void* arg);
void limit_fiber_start(void);

// `bytes` of fresh memory, or the end of the program.
void* pages(size_t bytes);
#endif
