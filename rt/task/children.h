// SPDX-License-Identifier: Apache-2.0
// rt/task/children.h — a nursery while it is open: its children are counted in and out, and it closes.
#pragma once

#include "rt/sched/path.h"
#include "rt/task/nursery.h"

namespace janus {

// One that comes from elsewhere to change the word (NurseryLife). On the nursery's home worker it costs nothing.
class NurseryRef {
 public:
  NurseryRef(const Worker* worker, Nursery& nursery) noexcept;
  ~NurseryRef() {
    if (is_announced_) nursery_.life().leave();
  }
  NurseryRef(const NurseryRef&) = delete;
  NurseryRef& operator=(const NurseryRef&) = delete;
  // False: the nursery is gone.
  bool is_valid() const noexcept { return is_valid_; }

 private:
  Nursery& nursery_;
  bool is_announced_ = false;
  bool is_valid_ = true;
};

void close_nursery(Worker* worker, Nursery& nursery) noexcept;
NurseryState nursery_state(const Nursery& nursery) noexcept;
// Before asking for the state: on the home worker of a closed nursery the count becomes visible to all.
void flush_local_count(Worker* worker, Nursery& nursery) noexcept;
bool is_terminal(const Nursery& nursery) noexcept;
// Counts a child in. False: no more spawns. kFast: on the nursery's home worker, while it is neither closing nor gone.
template <Path kPath>
bool count_child_in(Worker* worker, Nursery& nursery) noexcept;
// A child has ended: counts it out. The nursery may be gone when this returns.
void leave_nursery(Worker& worker, Nursery& nursery) noexcept;
void count_child_out(Worker* worker, Nursery& nursery) noexcept;
void release_pin(Worker* worker, Nursery& nursery) noexcept;
// Before its owner leaves its worker, or awaits: the count moves into the word.
std::uint64_t publish_count(Nursery& nursery, std::uint64_t flags) noexcept;
// Makes the task and those below it on the stack members, and their nurseries findable.
void publish_frames(RunFrame& frame) noexcept;
// Before anybody walks `frame.open`: those of janus_nursery_create come into it. They are the innermost.
void link_current(RunFrame& frame) noexcept;

}  // namespace janus
