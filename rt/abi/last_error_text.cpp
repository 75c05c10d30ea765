// SPDX-License-Identifier: Apache-2.0
// rt/abi/last_error_text.cpp — the last error as text, with its exact reason. Linked only if a program calls it.
#include "rt/abi/entry/entry.h"
#include "rt/base/format.h"
#include "rt/base/text_list.h"
#include "rt/task/record/why.h"

namespace janus {

namespace {

constexpr std::int64_t kFormatting = 8;  // the price of formatting one line, in ops

// In the order of Why, from kOps on.
constexpr char kWhys[] =
    "ops\0"
    "memory\0"
    "spawn_count\0"
    "channel_ops\0"
    "syscalls\0"
    "128 budgets are nested already\0"
    "there is no current nursery: janus_nursery_create opens one\0"
    "the nursery was closed or awaited\0"
    "the nursery was cancelled, or the task that opened it\0"
    "the runtime is not the calling task's\0"
    "there is no runtime: janus_rt_init makes one\0"
    "tasks cannot make, run or end runtimes\0"
    "the channel has too many references\0"
    "the nursery is NULL\0"
    "the channel is NULL\0"
    "the nursery is neither the caller's nor that of a task above it, or outside its cage\0"
    "cap is no token of this runtime that is in force\0"
    "the function is NULL\0"
    "the function is the runtime's own\0"
    "size is less than that of version 1\0"
    "priority is none of JANUS_PRIORITY_*\0"
    "stack_size is more than 64 MiB\0"
    "flags has bits that mean nothing\0"
    "on_error is none of JANUS_ON_ERROR_*\0"
    "on_exhaustion is none of JANUS_ON_EXHAUSTION_*\0"
    "JANUS_NURSERY_RECLAIM without a budget\0"
    "element_size is more than 1 MiB, or the buffer more than there can be\0"
    "align is no power of two up to 1 MiB\0"
    "reserved is not 0\0"
    "the mailbox is NULL\0"
    "the supervisor is NULL\0"
    "element_size is not 1 to 64 KiB, capacity is 0, or the messages are more than there can be\0"
    "strategy is none of JANUS_ONE_FOR_ONE, JANUS_ONE_FOR_ALL, JANUS_REST_FOR_ONE\0"
    "delay_min_ns is more than delay_max_ns\0"
    "max_restarts is more than 4,096, or children have died too often\0"
    "a child has not ended within its stop_ns\0"
    "restart is none of JANUS_PERMANENT, JANUS_TRANSIENT, JANUS_TEMPORARY\0"
    "no token gives the right to do that\0"
    "16 tokens are derived one from the other already\0"
    "turn_ns is for a nursery with a budget of its own";

}  // namespace

}  // namespace janus

extern "C" const char* janus_last_error_text(char* text, size_t size) {
  using namespace janus;
  const Caller me = enter(price::kCall + kFormatting);
  if (text == nullptr || size == 0) return "";
  const LastError last = last_error_of(me);
  const int error = error_of(last.error);
  const Why why = why_of(last.error);
  Text<192> line;
  line.append("%s", janus_strerror(error));
  if (why != Why::kNothingMore) {
    const char* const what = nth_text(kWhys, static_cast<unsigned>(why) - 1);
    line.append(": %s", what);
    if (names_component(why) && error == JANUS_E_NO_CAP) line.append(" was not granted");
    if (names_component(why)) line.append(", %lu left", static_cast<unsigned long>(last.left));
  }
  const std::size_t shown = line.size() < size ? line.size() : size - 1;
  write_user_bytes(text, line.data(), shown);
  write_user(text + shown, '\0');
  return text;
}
