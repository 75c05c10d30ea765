// SPDX-License-Identifier: Apache-2.0
// rt/abi/inspect/task_standing.cpp — the code position of a worker's running task, found by a signal handler on the
// worker. An archive member that janus-cc links unless it strips the program. docs/decisions/0270
#include "rt/abi/inspect/task_list.h"
#include "rt/optional.h"
#include "rt/task/report/backtrace.h"
#include "rt/task/report/describe.h"

JANUS_ANCHOR(janus_task_standing);

namespace janus {

namespace {

constexpr std::uint64_t kAnswerNs = 50'000'000;

// Runs in a signal handler on the worker's thread, so the interrupted stack does not change while it is walked. The
// walk may fault on memory that is no frame and thereby overwrite the worker's `user_fault`, which is restored.
void append_place(const platform::Standing& where, void* report) noexcept {
  auto& fault = current_worker().user_fault;
  const auto fault_before = fault;
  Place place{where.ip, where.fp, where.sp, where.sp + kMaxStackReservation, where.ip};
  leave_runtime(place);
  append_frames(*static_cast<TaskReport*>(report), place, kFramesOfEach);
  fault = fault_before;
}

}  // namespace

// Appends nothing if the worker does not answer, for example while it is in the kernel.
void append_standing(TaskReport& report, const Worker& worker) noexcept {
  if (platform::sample_thread == nullptr) return;
  (void)platform::sample_thread(worker.thread, append_place, &report, platform::now_ns() + kAnswerNs);
}

}  // namespace janus
