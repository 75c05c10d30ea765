// SPDX-License-Identifier: Apache-2.0
// pay.h: charges for work of this library whose length a caller can choose: calloc, qsort, printf. The functions mem*
// and str* charge nothing: they end where their caller's memory ends.
#pragma once

#include <stddef.h>
#include <stdint.h>

// A function of the runtime (rt/abi/yield.cpp): charges the task `ops` ops, as checks in its own code would, and yields
// if its slice is over. Does nothing outside tasks.
void janus_pay(uint32_t ops);

// Bulk work is done and charged piece by piece: charges for the next piece of `bytes` and returns its size.
enum { kBytesAtOnce = 65536, kBytesPerOp = 4096 };

static inline size_t janus_next_piece(size_t bytes) {
  if (bytes >= kBytesPerOp) janus_pay((uint32_t)((bytes < kBytesAtOnce ? bytes : kBytesAtOnce) / kBytesPerOp));
  return bytes < kBytesAtOnce ? bytes : kBytesAtOnce;
}
