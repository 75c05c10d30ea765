// SPDX-License-Identifier: Apache-2.0
// tests/models/machine.h — a machine with store buffers (x86-TSO), from the view of code that runs on it: a load sees
// the thread's own latest store or memory, a store waits in a buffer, a locked instruction and a full fence drain the
// thread's own buffer, a heavy fence all buffers. Before each of these the explorer (explorer.h) may let other threads
// run. Outside its threads all accesses go directly to memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus::model {

// Loads 1, 2, 4 or 8 bytes.
std::uint64_t load(const void* at, unsigned bytes);
void store(void* at, unsigned bytes, std::uint64_t value);

// A locked read-modify-write, from reading the old value to set(), which is called exactly once.
class Locked {
 public:
  Locked(void* at, unsigned bytes);
  std::uint64_t before() const { return before_; }
  void set(std::uint64_t value) const;

 private:
  void* at_;
  unsigned bytes_;
  std::uint64_t before_;
};

void fence();
void heavy_fence();
// Set before threads begin: whether platform::has_heavy_fence().
bool has_heavy_fence();

// For polling loops: the thread continues when another thread has changed memory since it last waited so, since before
// that it would see nothing new.
void wait_for_change();
// A futex. A wait without a time limit ends only when the thread is woken; one with a limit also when memory has
// changed.
void sleep(const void* word, std::uint32_t seen, bool is_forever);
// If there are more sleepers than `count`, all choices of those to wake are explored.
void wake(const void* word, std::uint32_t count);

// `bytes` of zeroed memory that belong to the explored state. Only the first kMappedBytes can be touched.
inline constexpr std::size_t kMappedBytes = 1536;
std::byte* map(std::size_t bytes);

// A claim of the program. If it does not hold, prints the order that led here and ends the exploration.
void require(bool holds, const char* what);

}  // namespace janus::model
