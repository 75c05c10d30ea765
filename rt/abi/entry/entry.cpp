// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/entry.cpp — what an entry does when it refuses a call.
#include "rt/abi/entry/entry.h"

#include "rt/abi/entry/thread_table.h"
#include "rt/base/format.h"
#include "rt/task/record/panic.h"

namespace janus {

[[gnu::noinline]] void set_error(Caller caller, int error) noexcept {
  if (caller.task != nullptr) {
    caller.task->mark(TaskMarks::kHasError);
    caller.task->frame->details.last_error = error;
    return;
  }
  set_error_of_thread(error);
}

[[gnu::noinline, gnu::cold]] void refuse_handle(const Caller& me, const char* kind, std::uint64_t handle,
                                                int* error) noexcept {
  *error = JANUS_E_STALE;
  if (me.task == nullptr) return;
  Text<64> why;
  why.append("there is no %s %p", kind, reinterpret_cast<void*>(handle));
  panic(*me.task, why.data());
}

}  // namespace janus
