// SPDX-License-Identifier: Apache-2.0
// rt/sched/world.h — the protocol by which one requester stops all workers: a worker says whether it is safe, and a
// requester says that the world is to stop. tests/models/world_model_test.cpp runs these very functions.
// docs/decisions/0341
//
// INVARIANT stopped-is-safe: from the moment when a requester has seen that a worker is safe until it lets the world go
// on, that worker runs no user's code and changes no task. A worker is safe while it sleeps, waits in an announced call
// of the kernel, or stands.
//   requester: 1 the world is to stop   2 wait until each worker has been seen to be safe
//   announce:  1 this worker is safe    2 is the world to stop? then tell the requester
//   come back: 1 it is not safe         2 is the world to stop? then stand, which announces
// Each step 1 is a full fence (a locked instruction, beside a sleep or a call of the kernel), so at least one side sees the
// other's. So a worker that comes back unseen has come back before the stop, and the requester waits for it; and a worker
// whose announcement was not seen tells the requester.
#pragma once

#include <cstdint>

#include "rt/base/atomic.h"
#include "rt/platform.h"

namespace janus {

class World {
 public:
  // Of a worker. All-zero bytes: it runs, or is about to begin.
  using Standing = Atomic<std::uint32_t>;
  static constexpr std::uint32_t kRuns = 0, kSafe = 1;

  // Any thread: whether the world is to stop, or has stopped.
  [[nodiscard]] bool is_to_stop() const noexcept { return (word_.load(std::memory_order_acquire) & kStops) != 0; }

  // --- By a worker, for its own standing ---

  // True: the world is to stop, and tell_requester() has to be called.
  [[nodiscard]] bool announce(Standing& mine) noexcept {
    mine.store(kSafe, std::memory_order_seq_cst);
    return is_to_stop();
  }
  void tell_requester() noexcept {
    arrivals_.fetch_add(1, std::memory_order_release);
    platform::wake(arrivals_, 1);
  }
  // False: the world is to stop, and the worker has to stand().
  [[nodiscard]] bool come_back(Standing& mine) noexcept {
    mine.store(kRuns, std::memory_order_seq_cst);
    return !is_to_stop();  // pairs with go_on()
  }
  // Returns once the world goes on. `rest` waits for that, and may return early.
  template <typename Rest>
  void stand(Standing& mine, Rest rest) noexcept {
    do {
      if (announce(mine)) tell_requester();
      while (is_to_stop()) rest();
    } while (!come_back(mine));
  }
  void wait_until_it_goes_on() noexcept {
    const std::uint32_t seen = word_.load(std::memory_order_acquire);
    if ((seen & kStops) != 0) platform::wait(word_, seen, platform::kForever);
  }

  // --- By the requester: one at a time ---

  // Step 1. Whatever it is that makes workers look soon comes after it.
  void stop() noexcept { word_.fetch_add(1, std::memory_order_seq_cst); }
  [[nodiscard]] static bool is_safe(const Standing& standing) noexcept {
    return standing.load(std::memory_order_acquire) == kSafe;
  }
  // Returns when a worker has announced something since arrivals() was `seen`, or at `until_ns`; may return early.
  [[nodiscard]] std::uint32_t arrivals() const noexcept { return arrivals_.load(std::memory_order_acquire); }
  void wait_for_arrival(std::uint32_t seen, std::uint64_t until_ns) noexcept {
    platform::wait(arrivals_, seen, until_ns);
  }
  void go_on() noexcept {
    word_.fetch_add(1, std::memory_order_seq_cst);
    platform::wake(word_, 1u << 30);
  }

 private:
  static constexpr std::uint32_t kStops = 1;  // odd while the world is to stop

  Atomic<std::uint32_t> word_{0};      // counts stops and goings on; those that stand sleep on it
  Atomic<std::uint32_t> arrivals_{0};  // counts announcements while the world was to stop; the requester sleeps on it
};

}  // namespace janus
