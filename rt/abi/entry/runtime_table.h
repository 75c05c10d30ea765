// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/runtime_table.h — the process's runtimes by number, so that a handle leads to its own runtime and to no other.
//
// INVARIANT pinned-runtime-stays: a runtime is looked up in two steps, and leaves the table in two steps.
//   look-up:  1 pins += 1        2 runtime still in its place? then it is there until pins -= 1
//   leaving:  1 its place = none 2 wait until there are no pins
// All are seq_cst, so the second of the two sees the other's first step.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/task/nurseries/handle.h"
#include "rt/task/record/runtime.h"

namespace janus {

// The table itself is for runtime_table.cpp, and for debuggers, which find it by its name.
struct RuntimePlace {
  std::atomic<Runtime*> runtime;
  std::atomic<std::uint32_t> pins;
};
extern RuntimePlace runtime_places[];

// create_runtime(), with a number of its own. nullptr also where kMaxRuntimes live already (kErrorNoMemory).
[[nodiscard]] Runtime* create_registered(const RuntimeOptions& options, int* error) noexcept;
// Takes the runtime out of the table, waits until no thread that has found it is still at it, then destroys it. False:
// it is no runtime, or another thread is just destroying it, and nothing there was touched.
bool destroy_registered(const void* pointer) noexcept;

// The runtime that a handle belongs to; nullptr: none. The caller has to see to it that it lives on.
Runtime* runtime_elsewhere(std::uint64_t handle) noexcept;

// The runtime with that number, nullptr if there is none. It stays until it is unpinned as often as pinned.
[[nodiscard]] Runtime* pin_runtime(unsigned number) noexcept;
void unpin_runtime(unsigned number) noexcept;

// The runtime that a user names by a pointer, which may be any; nullptr: there is none. It is kept alive as long as
// this object is. A runtime that was made where another one was before is not told from that.
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

// Whether it was a runtime just now. Its host, which destroys it, has to see to it that it stays.
[[nodiscard]] inline bool is_runtime(const void* pointer) noexcept {
  return RuntimeOfPointer(pointer).get() != nullptr;
}

}  // namespace janus
