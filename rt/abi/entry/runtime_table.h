// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/runtime_table.h — the process's runtimes by number, so that a handle leads to its own runtime and to no
// other.
//
// INVARIANT pinned-runtime-stays: a runtime is looked up in two steps, and leaves the table in two steps.
//   look-up:  1 pins += 1        2 runtime still in its place? then it is there until pins -= 1
//   leaving:  1 its place = none 2 wait until there are no pins
// All are seq_cst, so the side whose first step comes second sees, in its second step, the other side's first one.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/base/or_error.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/record/runtime.h"

namespace janus {

// The table itself is for runtime_table.cpp, and for debuggers, which find it by its name.
struct RuntimePlace {
  std::atomic<Runtime*> runtime;
  std::atomic<std::uint32_t> pins;
};
extern RuntimePlace runtime_places[];

// As create_runtime(); the runtime also gets a number of its own. Fails with kErrorNoMemory if kMaxRuntimes exist
// already.
OrError<Runtime*> create_registered(const RuntimeOptions& options) noexcept;
// Removes the runtime from the table, waits until no thread that has found it uses it, then destroys it. False: there
// is no runtime at `pointer`, or another thread is destroying it; that memory was not accessed.
bool destroy_registered(const void* pointer) noexcept;

// The runtime that a handle belongs to; nullptr: there is none. The caller must keep the runtime alive.
Runtime* runtime_elsewhere(std::uint64_t handle) noexcept;

// The runtime with that number, nullptr if there is none. It stays until it is unpinned as often as pinned.
[[nodiscard]] Runtime* pin_runtime(unsigned number) noexcept;
void unpin_runtime(unsigned number) noexcept;

// The runtime that a user names by any pointer, kept alive as long as this object is; nullptr: there is none. Cannot
// detect that a new runtime has the address of a former one.
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

// Whether there is a runtime at the address now. The host destroys runtimes, and must keep this one alive while the
// result is used.
[[nodiscard]] inline bool is_runtime(const void* pointer) noexcept {
  return RuntimeOfPointer(pointer).get() != nullptr;
}

}  // namespace janus
