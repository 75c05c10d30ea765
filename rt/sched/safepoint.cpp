// SPDX-License-Identifier: Apache-2.0
// rt/sched/safepoint.cpp — see safepoint.h. Linked into programs that stop the world (rt/optional.h).
#include "rt/sched/safepoint.h"

namespace janus {

namespace {

// From one question whether the requester gives up to the next. The first is not earlier, so that a cancelled task can stop
// tasks that come to checks.
constexpr std::uint64_t kAskNs = 10'000'000;

}  // namespace

void Safepoints::tell() noexcept {
  world_.tell_requester();
}

bool Safepoints::are_all_safe() const noexcept {
  for (const Worker& worker : parts_.workers)
    if (!World::is_safe(worker.standing)) return false;
  return true;
}

// The logical workers of deterministic mode share a thread, which must not wait for itself: it steps those that are not
// safe yet. Once all are, it is the thread of a requester outside that lets them go on.
void Safepoints::rest() noexcept {
  const bool is_shared =
      parts_.deterministic->is_on() && !(requester_.load(std::memory_order_relaxed) == nullptr && are_all_safe());
  is_shared ? parts_.deterministic->sched_point() : world_.wait_until_it_goes_on();
}

[[gnu::noinline, gnu::cold]] void Safepoints::stand(Worker& worker) noexcept {
  if (requester_.load(std::memory_order_relaxed) == &worker) return;
  call_with_registers_saved(worker, [&]() noexcept { world_.stand(worker.standing, [this]() noexcept { rest(); }); });
}

void Safepoints::begin(Worker* mine) noexcept {
  requester_.store(mine, std::memory_order_relaxed);  // published by stop()
  world_.stop();
  parts_.points->fetch_or(parts_.stops, std::memory_order_relaxed);
}

Worker* Safepoints::await(std::uint64_t until_ns, bool (*is_over)(void*), void* argument) noexcept {
  Worker* const mine = requester_.load(std::memory_order_relaxed);
  const bool steps = mine != nullptr && parts_.deterministic->is_on();
  const auto now = [&]() noexcept { return mine != nullptr ? parts_.deterministic->now_ns() : platform::now_ns(); };
  std::uint64_t ask_ns = until_ns != 0 ? now() + kAskNs : 0;
  for (Worker& worker : parts_.workers) {
    while (&worker != mine) {
      const std::uint32_t seen = world_.arrivals();
      if (World::is_safe(worker.standing)) break;
      const std::uint64_t now_ns = until_ns != 0 ? now() : 0;
      if (now_ns >= until_ns) return &worker;
      if (now_ns >= ask_ns) {
        if (is_over(argument)) return &worker;
        ask_ns = now_ns + kAskNs;
      }
      if (steps)
        parts_.deterministic->sched_point();
      else
        world_.wait_for_arrival(seen, until_ns < ask_ns ? until_ns : ask_ns);
    }
  }
  return nullptr;
}

void Safepoints::go_on() noexcept {
  parts_.points->fetch_and(static_cast<std::uint8_t>(~parts_.stops), std::memory_order_relaxed);
  requester_.store(nullptr, std::memory_order_relaxed);
  world_.go_on();
}

}  // namespace janus
