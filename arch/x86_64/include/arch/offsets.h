// SPDX-License-Identifier: Apache-2.0
// offsets.h — the format of the table that offsets.py reads from an object file: names and numbers, no relocations.
#pragma once

#include <cstdint>

namespace janus::arch {

struct Offset {
  char name[56];
  std::uint64_t value;
};
static_assert(sizeof(Offset) == 64);

}  // namespace janus::arch

// Followed by `= {{"JANUS_NAME", value}, ...};`
#define JANUS_OFFSETS [[gnu::section(".janus_offsets"), gnu::used]] constexpr janus::arch::Offset janus_offsets[]
