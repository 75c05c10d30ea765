// SPDX-License-Identifier: Apache-2.0
// mem_asm.h — shared by memmove.S, memset.S and memcmp.S: their second names, and the test of the processor's features.
#pragma once

#include <arch/asm.h>
#include "arch/x86_64/context_offsets.h"  // generated from cpu.h: JANUS_CPU_AVX2, ...

// The name that compilers call. Weak: a program's own wins. Hidden: a shared C library keeps its own.
#define WEAK_ALIAS(alias, name) \
  .weak alias;                  \
  .hidden alias;                \
  .type alias, @function;       \
  .set alias, name

// r8d = the processor's features; jumps to `unknown` until they have been found. Only long runs need them.
#define LOAD_FEATURES(unknown)          \
  mov janus_cpu_features(% rip), % r8d; \
  test % r8d, % r8d;                    \
  jz unknown

// At `unknown`: finds the features, keeps rax and the three arguments, and goes back to `again`.
#define FIND_FEATURES(again)    \
  push % rdi;                   \
  .cfi_adjust_cfa_offset 8;     \
  push % rsi;                   \
  .cfi_adjust_cfa_offset 8;     \
  push % rdx;                   \
  .cfi_adjust_cfa_offset 8;     \
  push % rax;                   \
  .cfi_adjust_cfa_offset 8;     \
  sub $8, % rsp;                \
  .cfi_adjust_cfa_offset 8;     \
  call janus_cpu_find_features; \
  add $8, % rsp;                \
  .cfi_adjust_cfa_offset - 8;   \
  pop % rax;                    \
  .cfi_adjust_cfa_offset - 8;   \
  pop % rdx;                    \
  .cfi_adjust_cfa_offset - 8;   \
  pop % rsi;                    \
  .cfi_adjust_cfa_offset - 8;   \
  pop % rdi;                    \
  .cfi_adjust_cfa_offset - 8;   \
  jmp again
