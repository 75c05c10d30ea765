// SPDX-License-Identifier: Apache-2.0
// state.cpp — the functions with which tests set the script and read the counters.
#include "tests/fake_platform/state.h"

#include <iterator>

namespace janus::fake_platform {

void Mapped::add(std::uintptr_t start, std::uintptr_t end) {
  const std::lock_guard lock(mutex_);
  bytes_ += end - start;
  auto after = stretches_.lower_bound(start);
  if (after != stretches_.end() && after->first == end) {
    end = after->second;
    after = stretches_.erase(after);
  }
  if (after != stretches_.begin() && std::prev(after)->second == start)
    std::prev(after)->second = end;
  else
    stretches_[start] = end;
}

bool Mapped::remove(std::uintptr_t start, std::uintptr_t end) {
  const std::lock_guard lock(mutex_);
  std::uintptr_t removed = 0;
  auto at = stretches_.upper_bound(start);
  if (at != stretches_.begin()) --at;
  while (at != stretches_.end() && at->first < end) {
    const auto [low, high] = *at;
    if (high <= start) {
      ++at;
      continue;
    }
    at = stretches_.erase(at);
    if (low < start) stretches_[low] = start;
    if (high > end) stretches_[end] = high;
    removed += (high < end ? high : end) - (low > start ? low : start);
  }
  bytes_ -= removed;
  return removed == end - start;
}

bool Mapped::has(std::uintptr_t start, std::uintptr_t end) {
  const std::lock_guard lock(mutex_);
  const auto after = stretches_.upper_bound(start);
  return after != stretches_.begin() && std::prev(after)->second >= end;
}

std::uint64_t Mapped::bytes() {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::uint64_t Mapped::pieces() {
  const std::lock_guard lock(mutex_);
  return stretches_.size();
}

void Mapped::clear() {
  const std::lock_guard lock(mutex_);
  stretches_.clear();
  bytes_ = 0;
}

State& state() {
  static State& the_state = *new State;  // never destroyed: threads may still run after main
  return the_state;
}

void reset() {
  State& s = state();
  s.maps_refused.set(kNever, 0);
  s.threads_refused.set(kNever, 0);
  s.mapped.clear();
  s.mapped_limit = s.guard_limit = kNever;
  s.memory_limit = 0;
  s.guard_kind = platform::Guard::kProtected;
  s.maps = s.guards = s.discarded = s.stray_unmaps = s.threads = 0;
  s.allowed = s.quota = 0;
  s.fractional = s.entropy_refused = s.thread_ns_hidden = false;
  s.heavy_fence = true;
  s.now = 1'000'000'000;
  s.waited = s.preemptions = 0;
  s.alarm_handler = nullptr;
  s.alarm_first = s.alarm_period = 0;
  s.waits = s.wakes = s.asked_to_wake = s.heavy_fences = s.entropy = 0;
}

void refuse_maps(std::uint64_t first, std::uint64_t count) {
  state().maps_refused.set(first, count);
}
void limit_mapped_bytes(std::uint64_t bytes) {
  state().mapped_limit = bytes;
}
void limit_guards(std::uint64_t guards, platform::Guard kind) {
  state().guard_limit = kind == platform::Guard::kNone ? 0 : guards;
  state().guard_kind = kind;
}
void set_memory_limit(std::uint64_t bytes) {
  state().memory_limit = bytes;
}
std::uint64_t maps() {
  return state().maps;
}
std::uint64_t mapped_bytes() {
  return state().mapped.bytes();
}
std::uint64_t mapped_pieces() {
  return state().mapped.pieces();
}
std::uint64_t guards() {
  return state().guards;
}
std::uint64_t discarded_bytes() {
  return state().discarded;
}
std::uint64_t stray_unmaps() {
  return state().stray_unmaps;
}

void refuse_threads(std::uint64_t first, std::uint64_t count) {
  state().threads_refused.set(first, count);
}
void set_cpus(unsigned allowed, unsigned quota, bool fractional) {
  state().allowed = allowed;
  state().quota = quota;
  state().fractional = fractional;
}
std::uint64_t threads_started() {
  return state().threads;
}

void set_now_ns(std::uint64_t now) {
  state().now = now;
}
void advance_ns(std::uint64_t by) {
  state().now += by;
}
void block_ns(std::uint64_t by) {
  state().waited += by;
  state().now += by;
}
Alarm alarm() {
  return {state().alarm_first, state().alarm_period};
}
bool ring() {
  const platform::AlarmHandler handler = state().alarm_handler;
  platform::Fault nowhere{};
  return handler != nullptr && handler(nowhere);
}
void preempt_ns(std::uint64_t by) {
  ++state().preemptions;
  block_ns(by);
}
void hide_thread_ns() {
  state().thread_ns_hidden = true;
}
std::uint64_t waits() {
  return state().waits;
}
std::uint64_t wakes() {
  return state().wakes;
}
std::uint64_t asked_to_wake() {
  return state().asked_to_wake;
}
void set_heavy_fence(bool there_is_one) {
  state().heavy_fence = there_is_one;
}
std::uint64_t heavy_fences() {
  return state().heavy_fences;
}
void refuse_entropy() {
  state().entropy_refused = true;
}

}  // namespace janus::fake_platform
