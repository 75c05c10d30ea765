// SPDX-License-Identifier: Apache-2.0
// fake_platform.h — a platform that follows the test's script: a call fails when the test says so, time moves only when
// a thread sleeps or the test moves it, and every call is counted. Each test begins with reset().
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/platform.h"

namespace janus::fake_platform {

// No failures, all counts 0, time 1 s after boot. Running threads are not stopped.
void reset();

// --- Pages -----------------------------------------------------------------------------------------------------------

inline constexpr std::uint64_t kNever = ~std::uint64_t{0};

// The next call of map() is number 1. From call `first` on, `count` calls are refused.
void refuse_maps(std::uint64_t first, std::uint64_t count = kNever);
// map() fails if more than this would be mapped at once, as with RLIMIT_AS.
void limit_mapped_bytes(std::uint64_t bytes);
// guard() makes no more than `guards` pages from now on; `kind` is what it reports for them. kNone: it makes none.
void limit_guards(std::uint64_t guards, platform::Guard kind = platform::Guard::kProtected);
void set_memory_limit(std::uint64_t bytes);

std::uint64_t maps();             // calls of map() that succeeded
std::uint64_t mapped_bytes();     // live now
std::uint64_t mapped_pieces();    // live now: separate ranges of mapped pages
std::uint64_t guards();           // granted so far
std::uint64_t discarded_bytes();  // so far
std::uint64_t stray_unmaps();     // calls of unmap() or discard() for bytes that were not mapped: a bug of the caller

// --- Threads ---------------------------------------------------------------------------------------------------------

// The next call of start_thread() is number 1. From call `first` on, `count` calls are refused.
void refuse_threads(std::uint64_t first, std::uint64_t count = kNever);
void set_cpus(unsigned allowed, unsigned quota, bool fractional);
std::uint64_t threads_started();

// --- Waiting and time ------------------------------------------------------------------------------------------------

// A wait with a deadline moves the clock to the deadline and returns. One without a deadline really sleeps, but for 50
// ms at most, since any wait may return early.
void set_now_ns(std::uint64_t now);
void advance_ns(std::uint64_t by);
// The calling thread waits in the kernel: the clock moves, but not the CPU time of threads.
void block_ns(std::uint64_t by);
// The same, but the machine takes the CPU from the thread.
void preempt_ns(std::uint64_t by);
void hide_thread_ns();  // thread_ns() does not know the time
// The last set_alarm() of any thread. An alarm rings only by ring(), on the calling thread, which is then interrupted at no
// instruction: it returns what the handler did.
struct Alarm {
  std::uint64_t first_ns, period_ns;
};
Alarm alarm();
bool ring();
std::uint64_t waits();  // calls of wait() that found word == seen
std::uint64_t wakes();
std::uint64_t asked_to_wake();  // the sum of the counts passed to wake()
void set_heavy_fence(bool there_is_one);
std::uint64_t heavy_fences();
// entropy() gives a fixed sequence, or fails.
void refuse_entropy();

}  // namespace janus::fake_platform
