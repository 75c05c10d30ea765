// SPDX-License-Identifier: Apache-2.0
// rt/task/supervise/runner.h — the task that runs a supervisor, and the children that it has started: it waits for news of
// them, takes note of their ends, and stops them in order. starts.h starts them, supervision.cpp has the whole run.
//
// INVARIANT a-grace-each: the grace of a runner's shield is that which the runner and its children would have without one,
// each of them one; and those of runners below it, which spend it, too, once this one was told to end. When a runner was
// told, its grace does not change any more but by what is spent. One that ends before those above it are told takes back
// what they have for its children.
#pragma once

#include <cstdint>

#include "rt/task/supervise/supervisor.h"
#include "rt/task/wait/wait.h"

namespace janus {

class Runner {
 protected:
  static constexpr std::uint64_t kNever = platform::kForever;

  Runner(Task& task, Channel& of, std::uint32_t its_secret) noexcept;

  [[nodiscard]] static std::uint64_t now_ns() noexcept;
  // kNever: later than any time.
  [[nodiscard]] static std::uint64_t time_after(std::uint64_t ns) noexcept;

  [[nodiscard]] ChannelHold hold() noexcept { return {&current_worker(), record}; }
  [[nodiscard]] Supervisor& its() noexcept { return Supervisor::of(record); }
  [[nodiscard]] Runtime& runtime() noexcept { return *record.runtime; }
  void forget_news() noexcept { std::atomic_ref(nursery->news).store(0, std::memory_order_seq_cst); }

  [[nodiscard]] bool is_told_to_end() noexcept;
  // Before the first child starts.
  void find_above() noexcept;
  // The runner has so many more children, or fewer.
  static void add_graces(Runner* first, std::int64_t graces) noexcept;
  // When the last child has ended.
  void end_graces() noexcept;
  // Waits for news, or the end of a child.
  [[nodiscard]] WaitEnd wait_until(std::uint64_t at_ns, bool ends_by_cancel) noexcept;
  void note_ends() noexcept;
  // Stops a child, if it runs, and waits for its end. False: it has not ended in its time.
  [[nodiscard]] bool stop(std::uint64_t id) noexcept;
  // Stops all children with higher numbers, the last first; if the grace gets short, all that are left at once. Temporary
  // ones go. False: one has not ended in time.
  [[nodiscard]] bool take_down_after(std::uint64_t id) noexcept;

  Task& self;
  Channel& record;
  const std::uint32_t secret;
  Nursery* nursery = nullptr;  // of the children's tasks, once it is open

 private:
  void note_end(Child& child, const Report& report) noexcept;
  [[nodiscard]] bool is_grace_short() noexcept;
  [[nodiscard]] std::uint64_t next_look() noexcept;

  const bool is_in_shield_;  // of the caller: then it is not cancelled
  // The runner whose shield is the nearest above; nullptr: there is none, or a shield of another kind is nearer.
  Runner* above_ = nullptr;
  std::atomic<std::int64_t> graces_{1};  // of which the shield's is made up
  // Once it was told to end: what was left of the grace when it looked last, and after how long it looks again.
  std::int64_t seen_grace_ = 0;
  std::uint64_t look_after_ns_ = 0;
};

}  // namespace janus
