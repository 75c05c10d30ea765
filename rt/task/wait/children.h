// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/children.h — counts a nursery's children in and out, and closes the nursery to further spawns.
#pragma once

#include "rt/sched/path.h"
#include "rt/task/record/nursery.h"

namespace janus {

// A visit of a nursery by a visitor (NurseryLife). Costs nothing on the nursery's home worker.
class NurseryRef {
 public:
  NurseryRef(const Worker* worker, Nursery& nursery) noexcept;
  ~NurseryRef() {
    if (is_announced_) nursery_.life().leave();
  }
  NurseryRef(const NurseryRef&) = delete;
  NurseryRef& operator=(const NurseryRef&) = delete;
  // False: the nursery has ended.
  bool is_valid() const noexcept { return is_valid_; }

 private:
  Nursery& nursery_;
  bool is_announced_ = false;
  bool is_valid_ = true;
};

void close_nursery(Worker* worker, Nursery& nursery) noexcept;
NurseryState nursery_state(const Nursery& nursery) noexcept;
// Called before reading the state: on the home worker of a closed nursery, makes the local count visible to all.
void flush_local_count(Worker* worker, Nursery& nursery) noexcept;
bool is_terminal(const Nursery& nursery) noexcept;
// Whether children are counted in. Called by the owner, or by a thread outside tasks that opened the nursery.
bool has_children(const Worker* worker, const Nursery& nursery) noexcept;
// Counts a child in. False: the nursery takes no more spawns. Fast path: requires the nursery's home worker, and a
// nursery that is neither closing nor ended.
template <Path kPath>
bool count_child_in(Worker* worker, Nursery& nursery) noexcept;
// Counts out a child that has ended. The nursery may have ended when this returns.
void leave_nursery(Worker& worker, Nursery& nursery) noexcept;
// The same for one that is now in the nursery's records: also wakes an owner that waits for any end.
void leave_nursery_with_record(Worker& worker, Nursery& nursery) noexcept;
void count_child_out(Worker* worker, Nursery& nursery) noexcept;
void release_pin(Worker* worker, Nursery& nursery) noexcept;
// Called before the owner leaves its worker, or awaits: moves the local count into the word and sets `flags`. Returns
// the new word.
std::uint64_t publish_count(Nursery& nursery, std::uint64_t flags) noexcept;
// Makes the frame's task, and the tasks on whose stack it runs, members of their nurseries, and publishes the nurseries
// that they opened.
void publish_frames(RunFrame& frame) noexcept;
inline void publish_before_wait(Task& task) noexcept {
  if (!task.is_published) [[unlikely]]
    publish_frames(*task.frame);
}
// Called before `frame.open` is walked: links the nurseries of janus_nursery_create into it. They are the innermost.
void link_current(RunFrame& frame) noexcept;

}  // namespace janus
