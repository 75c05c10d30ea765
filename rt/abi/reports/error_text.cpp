// SPDX-License-Identifier: Apache-2.0
// rt/abi/reports/error_text.cpp — the interface's values as text. An archive member of its own, linked if a program
// calls janus_strerror, and by janus-cc unless it strips the program, for the names in the runtime's messages.
#include <janus/rt.h>

#include <cstdint>

#include "rt/base/errors.h"
#include "rt/base/text_list.h"

namespace janus {

namespace {

// In the order of the values, from 0 and from -4097 downwards.
constexpr char kOutcomes[] =
    "JANUS_SUCCESS: no error\0"
    "JANUS_CANCELLED: told to end\0"
    "JANUS_PANIC: a task panicked\0"
    "JANUS_BUDGET_EXCEEDED: a task's budget was used up\0"
    "JANUS_PENDING: not ended yet";
constexpr char kErrors[] =
    "JANUS_E_CLOSED: the channel or nursery is closed\0"
    "JANUS_E_WOULD_BLOCK: it would have had to wait\0"
    "JANUS_E_TIMEOUT: the time given has passed\0"
    "JANUS_E_NO_TASK: not called from a task\0"
    "JANUS_E_NO_CAP: the right to do so was not granted\0"
    "JANUS_E_BUDGET: the budget does not reach\0"
    "JANUS_E_NO_MEMORY: the machine has no memory left\0"
    "JANUS_E_STALE: the object has ended, or was released\0"
    "JANUS_E_INVALID: a senseless argument\0"
    "JANUS_E_STATE: not possible in this state\0"
    "JANUS_E_DEADLOCK: the wait could never end\0"
    "JANUS_E_UNSUPPORTED: not in this release";

constexpr std::int64_t kFirstError = kErrorClosed;
// From the kernel's errno.h, which numbers its errors without gaps except for two.
constexpr std::int64_t kLastOfKernel = -133;  // EHWPOISON
constexpr bool is_of_kernel(std::int64_t value) noexcept {
  return value < 0 && value >= kLastOfKernel && value != -41 && value != -58;
}

}  // namespace

}  // namespace janus

extern "C" const char* janus_strerror(int64_t value) {
  using namespace janus;
  if (value <= 0 && value >= kPendingCode) return nth_text(kOutcomes, -value);
  if (value <= kFirstError && value >= kErrorUnsupported) return nth_text(kErrors, kFirstError - value);
  if (value > 0) return "no error: a value of 0 or more is success";
  if (is_of_kernel(value)) return "no error of janus-rt: one of the kernel, negated (errno.h), or the task's own value";
  return "no error of janus-rt: the task's own value";
}
