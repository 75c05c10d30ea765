// SPDX-License-Identifier: Apache-2.0
// pay.h: for loops of this library whose length a caller names. Those over memory that is there (mem*, str*) carry no
// checks: they end where it ends.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The runtime's (rt/abi/yield.cpp): charges the task so many ops, as its own checks would, and gives way when its slice
// is over. Outside tasks nothing happens.
void janus_pay(uint32_t ops);

// For bulk work, a piece of it at a time.
enum { kBytesAtOnce = 65536, kBytesPerOp = 4096 };

static inline size_t janus_next_piece(size_t bytes) {
  if (bytes >= kBytesPerOp) janus_pay((uint32_t)((bytes < kBytesAtOnce ? bytes : kBytesAtOnce) / kBytesPerOp));
  return bytes < kBytesAtOnce ? bytes : kBytesAtOnce;
}
