// SPDX-License-Identifier: Apache-2.0
// rt/mem/misuse.h — what can be wrong with a block. A caller that frees what is not its to free is told so by a value,
// with no lock held and nothing changed: whose fault that is, a layer above knows. What is found later, in a block that
// nobody holds, is nobody's fault that could still be told: that is reported here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus {

#ifndef NDEBUG
inline constexpr bool kHeapChecks = true;  // freed blocks are filled, and looked at again before they go out
#else
inline constexpr bool kHeapChecks = false;  // only what costs next to nothing: their links
#endif

// What the caller said was a block of its own.
enum class Misuse : std::uint32_t {
  kNone,
  kNoBlock,   // no block begins there: never did, or its pages have gone to others since
  kFreed,     // a block that nobody holds
  kRuntimes,  // a block that the runtime itself holds
};

// A block was written to after it was freed, by whom nobody knows any more: one line on stderr. Whoever finds that is
// not to blame, and the heap goes on: `given_up` blocks that only the overwritten link led to are never used again.
void report_written_after_free(const void* block, std::size_t given_up) noexcept;

// The heap's own tables contradict each other, so that nothing it says can be relied on: a block given out now might be
// another's. One line on stderr and the end of the process.
[[noreturn]] void end_for_damage(const char* what, const void* block) noexcept;

}  // namespace janus
