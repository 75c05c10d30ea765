// SPDX-License-Identifier: Apache-2.0
// rt/task/account/keepers.h — how the keeper of a budget is told: by a message in a channel, which this layer does not know.
// docs/decisions/0347
#pragma once

#include "rt/task/record/runtime.h"

namespace janus {

// What the ABI calls janus_keep.
struct KeepMessage {
  std::uint64_t component, left, waiting;
};

// Called through the runtime, so that a program without keepers does not link it. `keeper`: Keeping::keeper().
struct Keepers {
  // Tells the keeper what has fallen below its mark, unless his channel is full. Called without a lock.
  void (*tell_fallen)(Runtime& runtime, Worker* worker, Account* account) noexcept;
  // For the running task, which is about to wait for the component: tells the keeper, unless he knows that tasks wait. Waits for
  // room in the channel. False: the task can wait no longer, and must not be asked again.
  bool (*tell_of_wait)(Task& task, Component component) noexcept;
  // Whether there still is somebody to tell. Under the queue's lock.
  bool (*is_living)(Runtime& runtime, std::uint64_t keeper) noexcept;
};

inline const Keepers* keepers_of(const Runtime& runtime) noexcept {
  return runtime.keepers.load(std::memory_order_acquire);
}

}  // namespace janus
