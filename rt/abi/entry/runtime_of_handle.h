// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/runtime_of_handle.h — from a handle to its runtime, which is kept alive during the call.
#pragma once

#include <cstdint>

#include "rt/abi/entry/entry.h"

namespace janus {

// The runtime that a handle belongs to, kept alive as long as this object is. The calling task's own needs no pin: it
// lives as long as the task does.
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
  Worker* caller_;  // nullptr: no task calls
  Runtime* runtime_ = nullptr;
  std::uint64_t handle_;
  unsigned pinned_ = kNotPinned;
};

}  // namespace janus
