// SPDX-License-Identifier: Apache-2.0
// rt/sched/event.h — the events that deterministic mode traces, and the hash by which two runs are compared.
#pragma once

#include <cstdint>

namespace janus {

// The values are part of the hash.
enum class Event : std::uint8_t { kSpawn = 1, kStart, kResume, kSteal, kYield, kBlock, kFinish, kTimer };

// A hash of all events in their order: the event, the worker, and the runnable's id (never its address), so that the
// same program gives the same hash on every machine.
class OrderHash {
 public:
  void add(Event event, std::uint16_t worker, std::uint64_t runnable) noexcept {
    value_ = (value_ ^ (runnable << 24 | std::uint64_t{worker} << 8 | static_cast<std::uint64_t>(event))) *
             0x9e3779b97f4a7c15;
    value_ ^= value_ >> 29;
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace janus
