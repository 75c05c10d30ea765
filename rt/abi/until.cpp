// SPDX-License-Identifier: Apache-2.0
// rt/abi/until.cpp — calls that wait until a time at most. Each is the call without a deadline, made by a task that has
// one; so whatever that call waits for ends in time. docs/decisions/0330
#include "rt/abi/until.h"
#include "rt/abi/general_calls.h"

using namespace janus;

extern "C" {

int janus_task_join_until(janus_task task, int64_t* result, uint64_t deadline_ns) {
  return until(deadline_ns, [&] { return janus_task_join(task, result); });
}

int janus_channel_send_until(janus_channel* channel, const void* element, uint64_t deadline_ns) {
  return until(deadline_ns, [&] { return send_in_general(channel, element); });
}

int janus_channel_recv_until(janus_channel* channel, void* element, uint64_t deadline_ns) {
  return until(deadline_ns, [&] { return receive_in_general(channel, element); });
}

long janus_nursery_await_until(janus_nursery* nursery, janus_result* result, uint64_t deadline_ns) {
  return until(deadline_ns, [&] { return await_in_general(nursery, result, limit_at(deadline_ns)); });
}

int janus_nursery_next(janus_nursery* nursery, janus_result* result, uint64_t deadline_ns) {
  return until(deadline_ns, [&] { return next_in_general(nursery, result, limit_at(deadline_ns)); });
}

}  // extern "C"
