// SPDX-License-Identifier: Apache-2.0
// arch/linux/threads/thread_block.h — the block at the fs base of a thread that this layer starts. Compiled user code
// uses two offsets of it: the block's own address at 0 and the stack protector's canary at 0x28, which is the same on
// all threads, because a function may begin on one and end on another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/platform.h"

namespace janus::kernel {

struct ThreadBlock {
  ThreadBlock* self;
  std::uint64_t unused[4];
  std::uint64_t canary;

  // For start_thread: the function to run, and the mapping that holds stack, alternate stack and this block.
  platform::ThreadEntry entry;
  void* arg;
  char name[16];
  int cpu;
  std::byte* alternate;
  std::byte* mapping;
  std::size_t mapping_bytes;
};
static_assert(offsetof(ThreadBlock, self) == 0 && offsetof(ThreadBlock, canary) == 0x28);

// The canary of the calling thread, for a thread that it starts; a new one if it has none.
[[nodiscard]] std::uint64_t canary_here() noexcept;

// A canary from the kernel's random bytes. Its lowest byte is zero, which ends strings that overflow into it.
[[nodiscard]] std::uint64_t fresh_canary() noexcept;

}  // namespace janus::kernel
