// SPDX-License-Identifier: Apache-2.0
// sync_reuse_test.cpp — janus/sync.h: who sees that it was given what it waits for may use the object's memory for something else at
// once, also while the task that gave it has not returned yet, and if others have given up waiting there before.
#include <janus/sync.h>

#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr std::uint64_t kOther = ~std::uint64_t{0};

// In each round `take` waits in vain, then one task gives, and the other writes to the memory as soon as it has taken.
template <class Object, class Prepare, class Give, class Take>
void reuse(Prepare prepare, Give give, Take take) {
  const int rounds = scaled(200, 50);
  (void)run_in(with_workers(2), [&] {
    Object object = {};
    const std::atomic_ref word(*reinterpret_cast<std::uint64_t*>(&object));
    std::atomic<int> began{0}, gave{0};
    int overwritten = 0;
    auto giver = [&] {
      for (int i = 1; i <= rounds; ++i) {
        while (began.load() != i) janus_yield_check(1);
        CHECK_EQ(give(object), 0);
        gave = i;
      }
    };
    auto taker = [&] {
      for (int i = 1; i <= rounds; ++i) {
        object = {};
        prepare(object);
        CHECK_EQ(take(object), JANUS_E_TIMEOUT);
        CHECK_EQ(word.load() & 1, 1u);  // it is thought that somebody waits
        began = i;
        while (take(object) != 0) {
        }
        word = kOther;
        while (gave.load() != i) janus_yield_check(1);
        overwritten += word.load() != kOther;
      }
    };
    Scope scope;
    scope.go(giver);
    scope.go(taker);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(overwritten, 0);
  });
}

}  // namespace

TEST(sync_reuse, a_semaphore_whose_permit_was_taken_is_not_touched) {
  reuse<janus_semaphore>([](janus_semaphore&) {}, [](janus_semaphore& it) { return janus_semaphore_release(&it, 1); },
                         [](janus_semaphore& it) { return janus_semaphore_acquire_until(&it, 1); });
}

TEST(sync_reuse, an_event_that_was_seen_is_not_touched) {
  reuse<janus_event>([](janus_event&) {}, [](janus_event& it) { return janus_event_set(&it); },
                     [](janus_event& it) { return janus_event_wait_until(&it, 1); });
}

TEST(sync_reuse, a_wait_group_that_is_done_is_not_touched) {
  reuse<janus_wait_group>([](janus_wait_group& it) { CHECK_EQ(janus_wait_group_add(&it, 1), 0); },
                          [](janus_wait_group& it) { return janus_wait_group_done(&it); },
                          [](janus_wait_group& it) { return janus_wait_group_wait_until(&it, 1); });
}

// The lock is left by another task than the one that has the memory next.
TEST(sync_reuse, a_lock_that_was_left_is_not_touched) {
  reuse<janus_rwlock>([](janus_rwlock& it) { CHECK_EQ(janus_rwlock_read_lock(&it), 0); },
                      [](janus_rwlock& it) { return janus_rwlock_read_unlock(&it); },
                      [](janus_rwlock& it) { return janus_rwlock_write_lock_until(&it, 1); });
}

// What nobody waits for any more is not thought to be waited for after the next one gives it.
TEST(sync_reuse, who_finds_nobody_waiting_says_so) {
  on_any_workers([] {
    janus_semaphore semaphore = {};
    CHECK_EQ(janus_semaphore_acquire_until(&semaphore, 1), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_semaphore_release(&semaphore, 2), 0);
    CHECK_EQ(semaphore.word, std::uint64_t{2} << 32);
    janus_event event = {};
    CHECK_EQ(janus_event_wait_until(&event, 1), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_event_set(&event), 0);
    CHECK_EQ(janus_event_reset(&event), 0);
    CHECK_EQ(event.word, 0u);
    janus_wait_group group = {};
    CHECK_EQ(janus_wait_group_add(&group, 2), 0);
    CHECK_EQ(janus_wait_group_wait_until(&group, 1), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_wait_group_done(&group), 0);
    CHECK_EQ(janus_wait_group_done(&group), 0);
    CHECK_EQ(group.word, 0u);
    janus_rwlock lock = {};
    CHECK_EQ(janus_rwlock_read_lock(&lock), 0);
    CHECK_EQ(janus_rwlock_write_lock_until(&lock, 1), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_rwlock_read_unlock(&lock), 0);
    CHECK_EQ(lock.words[0], 0u);
    janus_cond cond = {};
    janus_mutex mutex = {};
    CHECK_EQ(janus_mutex_lock(&mutex), 0);
    CHECK_EQ(janus_cond_wait_until(&cond, &mutex, 1), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_cond_broadcast(&cond), 0);
    CHECK_EQ(cond.word, 0u);
    CHECK_EQ(janus_cond_wait_until(&cond, &mutex, 1), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_cond_signal(&cond), 0);
    CHECK_EQ(cond.word, 0u);
    CHECK_EQ(janus_mutex_unlock(&mutex), 0);
  });
}

}  // namespace janus::test
