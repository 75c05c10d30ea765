// SPDX-License-Identifier: Apache-2.0
// rt/mem/misuse.h — what happens to a caller that frees what is not its to free. The heap finds this layer's bugs and
// its users'; who is to blame, a layer above knows.
#pragma once

namespace janus {

#ifndef NDEBUG
inline constexpr bool kHeapChecks = true;  // freed blocks are filled, and looked at again before they go out
#else
inline constexpr bool kHeapChecks = false;  // only what costs next to nothing: foreign pointers, double frees
#endif

// Ends the caller (a panic of its task) and does not come back. No lock of the heap is held.
using MisuseHandler = void (*)(const char* what, const void* block);
void on_heap_misuse(MisuseHandler handler) noexcept;

// What it is told.
inline constexpr const char* kForeignBlock = "free of an address that is no block of this heap:";
inline constexpr const char* kFreedTwice = "double free of";
inline constexpr const char* kWrittenAfterFree = "a block was written to after it was freed:";

// Without a handler, or if it comes back: one line on stderr and the end of the process.
[[noreturn]] void heap_misuse(const char* what, const void* block) noexcept;

}  // namespace janus
