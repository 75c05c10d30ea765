// SPDX-License-Identifier: Apache-2.0
// rt/sched/safepoint.h — where workers stand while the world is stopped, and how a requester stops it. Who may ask, and in
// which order, is the layer's above. docs/decisions/0341
//
// A busy worker comes to a safepoint at the end of a slice (slices are empty while the world is to stop), between two
// tasks, and where Scheduler::sched_point() is called; there it stands. It holds no lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/optional.h"
#include "rt/sched/deterministic.h"
#include "rt/sched/worker.h"
#include "rt/sched/world.h"

namespace janus {

class Safepoints {
 public:
  // Any thread: whether the world is to stop, or has stopped.
  [[nodiscard]] bool is_to_stop() const noexcept { return world_.is_to_stop(); }

  // --- Called by a worker, with no lock held ---

  // Around a sleep, or a call that call_with_registers_saved() makes.
  void announce(Worker& worker) noexcept {
    if (world_.announce(worker.standing)) [[unlikely]]
      tell();
  }
  void come_back(Worker& worker) noexcept {
    if (!world_.come_back(worker.standing)) [[unlikely]]
      stand(worker);
  }
  // Called if the world is to stop: stands until it goes on, unless this is the requester's worker.
  [[JANUS_OPTIONAL]] void stand(Worker& worker) noexcept;

  // --- Called by the requester ---

  // The parts of the scheduler, passed before the first stop.
  struct Parts {
    WorkerList workers;
    DeterministicScheduler* deterministic;
    std::atomic<std::uint8_t>* points;  // of Scheduler::sched_point()
    std::uint8_t stops;                 // the bit of these that says that the world is to stop
  };
  void init(const Parts& parts) noexcept {
    if (parts_.deterministic == nullptr) parts_ = parts;
  }
  // Makes the world stop. `mine`: the requester's own worker, which counts as safe; nullptr: a thread outside.
  void begin(Worker* mine) noexcept;
  // After begin(), and after the caller has seen to it that slices are empty. Waits for the workers until `until_ns` (0:
  // looks once) of the scheduler's clock, or of the machine's if the requester is outside, or until `is_over(argument)`, which it asks now and then. nullptr: the world has
  // stopped; else a worker that is not safe.
  [[nodiscard]] Worker* await(std::uint64_t until_ns, bool (*is_over)(void*), void* argument) noexcept;
  void go_on() noexcept;

 private:
  [[JANUS_OPTIONAL]] void tell() noexcept;
  void rest() noexcept;
  [[nodiscard]] bool are_all_safe() const noexcept;

  World world_;
  std::atomic<Worker*> requester_{nullptr};
  Parts parts_{};
};

// A suspension of a task that keeps its worker: it says where the task stands, for those who walk over a stopped world. All
// registers of the task's code lie on its stack above `sp`.
class StandsHere {
 public:
  StandsHere(Worker& worker, std::uint64_t sp, std::uint64_t fp) noexcept : task_(static_cast<Runnable*>(worker.task)) {
    if (task_ == nullptr) return;
    before_ = task_->suspension();
    here_.context.sp = sp;
    here_.context.rbp = fp;
    here_.stack = worker.stack;
    here_.stack_limit = nullptr;
    task_->suspend_at(&here_);
  }
  ~StandsHere() {
    if (task_ != nullptr) task_->suspend_at(before_);
  }
  StandsHere(const StandsHere&) = delete;
  StandsHere& operator=(const StandsHere&) = delete;

  // Whether that suspension is such a one.
  [[nodiscard]] static bool is_one(const Suspension& suspension) noexcept { return suspension.stack_limit == nullptr; }

 private:
  Runnable* task_;
  Suspension* before_;
  Suspension here_;
};

// Makes a call with all registers of the caller's code on the stack.
template <typename Call>
[[gnu::noinline]] auto call_with_registers_saved(Worker& worker, Call call) noexcept {
  __builtin_unwind_init();
  const StandsHere here(worker, arch::stack_pointer(), reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)));
  return call();
}

// Makes a call of the kernel that may take long: while it lasts, the worker counts as stopped. `call` touches nothing that
// belongs to the runtime.
template <typename Call>
auto call_announced(Safepoints& safepoints, Worker& worker, Call call) noexcept {
  return call_with_registers_saved(worker, [&]() noexcept {
    safepoints.announce(worker);
    const auto answer = call();
    safepoints.come_back(worker);
    return answer;
  });
}

}  // namespace janus
