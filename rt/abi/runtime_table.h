// SPDX-License-Identifier: Apache-2.0
// rt/abi/runtime_table.h — the process's runtimes by number, so that a handle leads to its own runtime and to no other.
//
// INVARIANT pinned-runtime-stays: a runtime is looked up in two steps, and leaves the table in two steps.
//   look-up:  1 pins += 1        2 runtime still in its place? then it is there until pins -= 1
//   leaving:  1 its place = none 2 wait until there are no pins
// All are seq_cst, so whoever is second sees the other's first step.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/task/handle.h"
#include "rt/task/runtime.h"

namespace janus {

// The table itself is for runtime_table.cpp, and for debuggers, who find it by its name.
struct RuntimePlace {
  std::atomic<Runtime*> runtime;
  std::atomic<std::uint32_t> pins;
};
extern RuntimePlace runtime_places[];

// create_runtime(), with a number of its own. nullptr also where kMaxRuntimes live already (kErrorNoMemory).
[[nodiscard]] Runtime* create_registered(const RuntimeOptions& options, int* error) noexcept;
// Nobody finds it any more, and nobody who has found it is still at it; then it is destroyed. False: it is no runtime,
// or somebody else is just destroying it, and nothing there was touched.
bool destroy_registered(const void* pointer) noexcept;

// The runtime that a handle belongs to; nullptr: none. That it lives on is the care of whoever asks.
Runtime* runtime_elsewhere(std::uint64_t handle) noexcept;

// The runtime with that number, nullptr if there is none, which stays until it is unpinned as often as pinned.
[[nodiscard]] Runtime* pin_runtime(unsigned number) noexcept;
void unpin_runtime(unsigned number) noexcept;

// A runtime that somebody names by its pointer, which may be any; nullptr: there is none. As long as this lives. One
// that was made where another one was before is not told from it.
class RuntimeOfPointer {
 public:
  explicit RuntimeOfPointer(const void* pointer) noexcept;
  ~RuntimeOfPointer();
  RuntimeOfPointer(const RuntimeOfPointer&) = delete;
  RuntimeOfPointer& operator=(const RuntimeOfPointer&) = delete;

  [[nodiscard]] Runtime* get() const noexcept { return runtime_; }

 private:
  Runtime* runtime_ = nullptr;
  unsigned pinned_ = 0;
};

// Whether it was one just now. That it stays is the care of the host, who destroys it.
[[nodiscard]] inline bool is_runtime(const void* pointer) noexcept {
  return RuntimeOfPointer(pointer).get() != nullptr;
}

}  // namespace janus
