// SPDX-License-Identifier: Apache-2.0
// rt/abi/inspect/task_standing.cpp — where a worker's running task stands, as the worker itself tells when it is asked. A
// member of the archive that janus-cc asks for, unless it strips the program. docs/decisions/0270
#include "rt/abi/inspect/task_list.h"
#include "rt/optional.h"
#include "rt/task/report/backtrace.h"
#include "rt/task/report/describe.h"

JANUS_ANCHOR(janus_task_standing);

namespace janus {

namespace {

constexpr std::uint64_t kAnswerNs = 50'000'000;

// Runs on the worker's own thread, which stands still meanwhile, so that its stack can be walked; it may be on any of
// its stacks. The walk may touch memory that is no frame, so the worker's record of a bad pointer is restored.
void append_place(const platform::Standing& where, void* report) noexcept {
  auto& fault = current_worker().user_fault;
  const auto fault_before = fault;
  Place place{where.ip, where.fp, where.sp, where.sp + kMaxStackReservation, where.ip};
  leave_runtime(place);
  append_frames(*static_cast<TaskReport*>(report), place, kFramesOfEach);
  fault = fault_before;
}

}  // namespace

// Appends nothing where the worker does not answer: it may be held up in the kernel.
void append_standing(TaskReport& report, const Worker& worker) noexcept {
  if (platform::sample_thread == nullptr) return;
  (void)platform::sample_thread(worker.thread, append_place, &report, platform::now_ns() + kAnswerNs);
}

}  // namespace janus
