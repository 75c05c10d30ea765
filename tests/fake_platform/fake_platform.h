// SPDX-License-Identifier: Apache-2.0
// fake_platform.h — a machine that does what a test tells it: faults on the call that was named, time that moves only
// when somebody sleeps or the test says so, and counts of everything. Each test begins with reset().
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/platform.h"

namespace janus::fake_platform {

// No faults, all counts 0, time 1 s after boot. Threads that are still running keep running.
void reset();

// --- Pages
// -------------------------------------------------------------------------------------------------------------

inline constexpr std::uint64_t kNever = ~std::uint64_t{0};

// The next call of map() is number 1. From call `first` on, `count` calls are refused.
void refuse_maps(std::uint64_t first, std::uint64_t count = kNever);
// map() refuses what would make more than this live at once, as RLIMIT_AS does.
void limit_mapped_bytes(std::uint64_t bytes);
// guard() grants no more than `guards` from now on; `kind` is how they fault. kNone: none at all.
void limit_guards(std::uint64_t guards, platform::Guard kind = platform::Guard::kProtected);
void set_memory_limit(std::uint64_t bytes);

std::uint64_t maps();             // calls of map() that gave something
std::uint64_t mapped_bytes();     // live now
std::uint64_t mapped_pieces();    // live now: stretches of pages with something else between them
std::uint64_t guards();           // granted so far
std::uint64_t discarded_bytes();  // so far
std::uint64_t stray_unmaps();     // unmap() or discard() of bytes that were not mapped: a bug of the caller

// --- Threads
// -----------------------------------------------------------------------------------------------------------

// The next call of start_thread() is number 1. From call `first` on, `count` calls are refused.
void refuse_threads(std::uint64_t first, std::uint64_t count = kNever);
void set_cpus(unsigned allowed, unsigned quota, bool fractional);
std::uint64_t threads_started();

// --- Waiting and time
// --------------------------------------------------------------------------------------------------

// A wait with an end moves the clock there at once and returns; one without sleeps really, for 50 ms at most, since any
// wait may return early.
void set_now_ns(std::uint64_t now);
void advance_ns(std::uint64_t by);
std::uint64_t waits();  // that found word == seen
std::uint64_t wakes();
std::uint64_t asked_to_wake();  // sleepers at most, by all those calls together
void set_heavy_fence(bool there_is_one);
std::uint64_t heavy_fences();
// entropy() gives a fixed sequence, or fails.
void refuse_entropy();

}  // namespace janus::fake_platform
