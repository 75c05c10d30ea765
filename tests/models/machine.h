// SPDX-License-Identifier: Apache-2.0
// tests/models/machine.h — a machine with store buffers (x86-TSO), as the code that runs on it sees it: a load sees the
// thread's own latest store or memory, a store waits in a buffer, a locked instruction and a full fence drain the
// thread's own buffer, a heavy fence everybody's. Before each of these the explorer (explorer.h) may let others go on.
// Outside its threads all accesses go straight to memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus::model {

// Of 1, 2, 4 or 8 bytes.
std::uint64_t load(const void* at, unsigned bytes);
void store(void* at, unsigned bytes, std::uint64_t value);

// A locked read-modify-write, from the look at what was there to set(), which comes exactly once.
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

// A thread that would only look again goes on when somebody else has changed memory since it last waited so. Nothing
// else would let it see anything new.
void wait_for_change();
// A futex. One without a limit goes on only when it is woken; one with a limit also when something has changed.
void sleep(const void* word, std::uint32_t seen, bool is_forever);
// If there are more sleepers than `count`, who is woken is explored.
void wake(const void* word, std::uint32_t count);

// `bytes` of zeroed memory that belong to the explored state. Only the first kMappedBytes can be touched.
inline constexpr std::size_t kMappedBytes = 768;
std::byte* map(std::size_t bytes);

// What a program claims. If it does not hold, the order that led here is shown and the exploration ends.
void require(bool holds, const char* what);

}  // namespace janus::model
