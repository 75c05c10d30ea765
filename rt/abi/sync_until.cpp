// SPDX-License-Identifier: Apache-2.0
// rt/abi/sync_until.cpp — janus/sync.h: waits until a time at most (rt/abi/until.cpp). Where a call goes on after its wait
// the deadline does not.
#include "rt/abi/sync_calls.h"
#include "rt/abi/until.h"
#include "rt/task/sync/mutex.h"

using namespace janus;

extern "C" {

int janus_mutex_lock_until(janus_mutex* mutex, uint64_t deadline_ns) {
  return until(deadline_ns, [&] { return janus_mutex_lock(mutex); });
}

int janus_rwlock_read_lock_until(janus_rwlock* lock, uint64_t deadline_ns) {
  return until(deadline_ns, [&] { return janus_rwlock_read_lock(lock); });
}

int janus_rwlock_write_lock_until(janus_rwlock* lock, uint64_t deadline_ns) {
  return until(deadline_ns, [&] { return janus_rwlock_write_lock(lock); });
}

int janus_cond_wait_until(janus_cond* cond, janus_mutex* mutex, uint64_t deadline_ns) {
  bool has_released = false;
  const int answer = until(deadline_ns, [&] { return wait_for_signal(cond, mutex, has_released); });
  return has_released ? lock_again(mutex, answer) : answer;
}

int janus_semaphore_acquire_until(janus_semaphore* semaphore, uint64_t deadline_ns) {
  return until(deadline_ns, [&] { return janus_semaphore_acquire(semaphore); });
}

int janus_barrier_wait_until(janus_barrier* barrier, uint64_t deadline_ns) {
  return until(deadline_ns, [&] { return janus_barrier_wait(barrier); });
}

int janus_wait_group_wait_until(janus_wait_group* group, uint64_t deadline_ns) {
  return until(deadline_ns, [&] { return janus_wait_group_wait(group); });
}

int janus_event_wait_until(janus_event* event, uint64_t deadline_ns) {
  return until(deadline_ns, [&] { return janus_event_wait(event); });
}

int janus_once_call_until(janus_once* once, void (*fn)(void*), void* arg, uint64_t deadline_ns) {
  const int begun = until(deadline_ns, [&] { return begin_once(once, fn); });
  return begun == kToCall ? call_once(once, fn, arg) : begun;
}

}  // extern "C"
