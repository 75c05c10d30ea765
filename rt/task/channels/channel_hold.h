// SPDX-License-Identifier: Apache-2.0
// rt/task/channels/channel_hold.h — holds the lock of a channel that may have ended.
#pragma once

#include "rt/task/record/channel.h"

namespace janus {

class ChannelHold {
 public:
  // `worker`: the caller's, or nullptr.
  ChannelHold(Worker* worker, Channel& channel) noexcept
      : channel_(channel), me_(owner_in(channel, worker)), hold_(channel.lock.lock_as_guest(me_)) {}
  ~ChannelHold() {
    if (is_held_) channel_.lock.unlock(me_, hold_);
  }
  ChannelHold(const ChannelHold&) = delete;
  ChannelHold& operator=(const ChannelHold&) = delete;

  void unlock() noexcept {
    is_held_ = false;
    channel_.lock.unlock(me_, hold_);
  }
  // For a wait, which unlocks it.
  [[nodiscard]] BiasedLock::Hold give_away() noexcept {
    is_held_ = false;
    return hold_;
  }

 private:
  Channel& channel_;
  LockOwner* const me_;
  const BiasedLock::Hold hold_;
  bool is_held_ = true;
};

}  // namespace janus
