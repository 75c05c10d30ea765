// SPDX-License-Identifier: Apache-2.0
// rt/abi/runtime_of_handle.h — from a handle to its runtime, which stays while one looks into it.
#pragma once

#include <cstdint>

#include "rt/abi/door.h"

namespace janus {

// The runtime that a handle belongs to, as long as this lives. The caller's own needs no pin: it lives as long as the
// caller does.
class RuntimeOfHandle {
 public:
  RuntimeOfHandle(Caller me, std::uint64_t handle) noexcept;
  ~RuntimeOfHandle();
  RuntimeOfHandle(const RuntimeOfHandle&) = delete;
  RuntimeOfHandle& operator=(const RuntimeOfHandle&) = delete;

  // The handle's task, locked; nullptr: stale, forged, or of a runtime that has ended.
  [[nodiscard]] Task* lock() const noexcept;
  [[nodiscard]] Runtime* get() const noexcept { return runtime_; }

 private:
  static constexpr unsigned kNotPinned = ~0u;
  Worker* caller_;  // of a task
  Runtime* runtime_ = nullptr;
  std::uint64_t handle_;
  unsigned pinned_ = kNotPinned;
};

}  // namespace janus
