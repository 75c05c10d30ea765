// SPDX-License-Identifier: Apache-2.0
// rt/mem/misuse.h — misuse of blocks. A caller that frees a block that it may not free gets a Misuse value, with no
// lock held and nothing changed: the layer above decides what follows. Damage that is found later, in a free block,
// cannot be traced to a task, and is only reported. docs/decisions/0130
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus {

#ifndef NDEBUG
inline constexpr bool kHeapChecks = true;  // freed blocks are filled with a pattern, which is checked on reuse
#else
inline constexpr bool kHeapChecks = false;  // only the links of free blocks are checked, which costs next to nothing
#endif

// The error in an address that the caller passed as its block.
enum class Misuse : std::uint32_t {
  kNone,
  kNoBlock,   // no block begins there: it never did, or its pages have been reused since
  kFreed,     // the block is free
  kRuntimes,  // the block is held by the runtime itself
};

// Reports, in one line on stderr, that a block was written to after it was freed. The task that wrote is no longer
// known, so no task is ended, and the heap continues. `given_up` blocks that only the overwritten link led to are never
// used again.
void report_written_after_free(const void* block, std::size_t given_up) noexcept;

// Ends the process, with one line on stderr, because the heap's own tables contradict each other: the next block that
// it gives out might be in use.
[[noreturn]] void end_for_damage(const char* what, const void* block) noexcept;

}  // namespace janus
