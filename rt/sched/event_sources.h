// SPDX-License-Identifier: Apache-2.0
// rt/sched/event_sources.h — the scheduler's event sources (the concept is in event_source.h).
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/mem/stack_pool.h"
#include "rt/sched/event_source.h"
#include "rt/sched/hooks.h"
#include "rt/sched/worker.h"

namespace janus {

// A request by a signal handler or another thread that the layer above look at something (hooks::on_attention). Several
// requests before one poll count as one.
class Attention {
 public:
  // Any thread, any signal handler. Steps 1 and 2 of a source in no-lost-event; the caller does step 3.
  void request() noexcept { is_requested_.store(true, std::memory_order_seq_cst); }

  [[nodiscard]] bool has_event() const noexcept { return is_requested_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t next_deadline(Worker&, std::uint64_t) const noexcept { return platform::kForever; }
  void poll(Worker& worker, std::uint64_t) noexcept {
    if (has_event() && is_requested_.exchange(false, std::memory_order_acq_rel)) hooks::on_attention(worker);
  }

 private:
  std::atomic<bool> is_requested_{false};
};

// Once a second at most, a worker that has nothing to run gives back the stacks that the program no longer needs. The time
// of the next look is the same for all sleeps: a worker that is woken more often than once a second would never look.
class StackReclaim {
 public:
  // With nullptr stacks are never given back.
  void init(StackPool* stacks) noexcept { stacks_ = stacks; }

  [[nodiscard]] bool has_event() const noexcept { return false; }
  [[nodiscard]] std::uint64_t next_deadline(Worker& worker, std::uint64_t now_ns) const noexcept;
  void poll(Worker& worker, std::uint64_t now_ns) noexcept;

 private:
  static constexpr std::uint64_t kPeriodNs = 1'000'000'000;
  StackPool* stacks_ = nullptr;
  std::atomic<std::uint64_t> next_look_ns_{0};
};

// The timeout of one sleep of a worker that searches again by itself, because the work of busy workers, or a woken task
// that was left to its waker, may need a thief soon. The worker wakes up to search, so there is nothing to poll.
class Watch {
 public:
  Watch(bool is_watching, bool was_deferred) noexcept : is_watching_(is_watching), was_deferred_(was_deferred) {}

  [[nodiscard]] bool has_event() const noexcept { return false; }
  [[nodiscard]] std::uint64_t next_deadline(Worker& worker, std::uint64_t now_ns) const noexcept {
    return is_watching_ ? now_ns + worker.backoff.timed_park_ns(was_deferred_) : platform::kForever;
  }
  void poll(Worker&, std::uint64_t) noexcept {}

 private:
  bool is_watching_, was_deferred_;
};

static_assert(EventSource<Attention> && EventSource<StackReclaim> && EventSource<Watch>);

}  // namespace janus
