// SPDX-License-Identifier: Apache-2.0
// rt/abi/sync_counts.cpp — janus/sync.h: semaphores, barriers, wait groups, events.
#include "rt/abi/sync_calls.h"
#include "rt/task/sync/count.h"
#include "rt/task/sync/semaphore.h"

using namespace janus;

extern "C" {

int janus_semaphore_init(janus_semaphore* semaphore, uint32_t permits) {
  (void)enter();
  if (words_of(semaphore) == nullptr) return JANUS_E_INVALID;
  write_user(semaphore, janus_semaphore{std::uint64_t{permits} << 32});
  return 0;
}

int janus_semaphore_acquire(janus_semaphore* semaphore) {
  return wait_at(semaphore, kCalls<acquire_permit>);
}

int janus_semaphore_try_acquire(janus_semaphore* semaphore) {
  return take_at(semaphore, [](Task&, std::uint64_t* word) noexcept { return try_acquire_permit(word); });
}

int janus_semaphore_release(janus_semaphore* semaphore, uint32_t permits) {
  return release_at(enter_free(), semaphore, [&](Task& self, std::uint64_t* word) noexcept {
    return permits != 0 ? release_permits(self, word, permits) : kErrorInvalid;
  });
}

int janus_barrier_init(janus_barrier* barrier, uint32_t parties) {
  (void)enter();
  if (words_of(barrier) == nullptr || parties == 0) return JANUS_E_INVALID;
  write_user(barrier, janus_barrier{{std::uint64_t{parties} << 32, number_barrier(barrier)}});
  return 0;
}

int janus_barrier_wait(janus_barrier* barrier) {
  return wait_at(barrier, [](Task& self, std::uint64_t* words) noexcept {
    order_hooks::release(words);
    return await_barrier(self, words);
  });
}

int janus_wait_group_add(janus_wait_group* group, int64_t n) {
  return release_at(enter(), group,
                    [&](Task& self, std::uint64_t* word) noexcept { return add_to_group(self, word, n); });
}

int janus_wait_group_done(janus_wait_group* group) {
  return release_at(enter_free(), group,
                    [](Task& self, std::uint64_t* word) noexcept { return add_to_group(self, word, -1); });
}

int janus_wait_group_wait(janus_wait_group* group) {
  return wait_at(group, kCalls<await_group>);
}

int janus_event_set(janus_event* event) {
  return release_at(enter_free(), event, kCalls<set_event>);
}

int janus_event_reset(janus_event* event) {
  return call_on(enter(), event, [](Task&, std::uint64_t* word) noexcept { return reset_event(word); });
}

int janus_event_wait(janus_event* event) {
  return wait_at(event, kCalls<await_event>);
}

}  // extern "C"
