// SPDX-License-Identifier: Apache-2.0
// sync_memory_test.cpp — objects of janus/sync.h in memory that is bad, goes away while tasks wait, is written to by others,
// or is used again for something else: the caller panics or gets an error, and nothing else happens.
#include <janus/sync.h>

#include "tests/task/bad_memory.h"

namespace janus::test {

namespace {

using Call = int (*)(void* object);

constexpr Call kCalls[] = {
    [](void* at) { return janus_mutex_lock(static_cast<janus_mutex*>(at)); },
    [](void* at) { return janus_mutex_lock_until(static_cast<janus_mutex*>(at), 1); },
    [](void* at) { return janus_mutex_try_lock(static_cast<janus_mutex*>(at)); },
    [](void* at) { return janus_mutex_unlock(static_cast<janus_mutex*>(at)); },
    [](void* at) { return janus_rwlock_read_lock(static_cast<janus_rwlock*>(at)); },
    [](void* at) { return janus_rwlock_write_lock(static_cast<janus_rwlock*>(at)); },
    [](void* at) { return janus_rwlock_try_write_lock(static_cast<janus_rwlock*>(at)); },
    [](void* at) { return janus_semaphore_init(static_cast<janus_semaphore*>(at), 1); },
    [](void* at) { return janus_semaphore_acquire(static_cast<janus_semaphore*>(at)); },
    [](void* at) { return janus_semaphore_release(static_cast<janus_semaphore*>(at), 1); },
    [](void* at) { return janus_barrier_init(static_cast<janus_barrier*>(at), 1); },
    [](void* at) { return janus_barrier_wait(static_cast<janus_barrier*>(at)); },
    [](void* at) { return janus_wait_group_add(static_cast<janus_wait_group*>(at), 1); },
    [](void* at) { return janus_event_set(static_cast<janus_event*>(at)); },
    [](void* at) { return janus_event_wait(static_cast<janus_event*>(at)); },
    [](void* at) {
      return janus_once_call(
          static_cast<janus_once*>(at), [](void*) {}, nullptr);
    },
    [](void* at) {
      janus_mutex mutex = {};
      CHECK_EQ(janus_mutex_lock(&mutex), 0);
      return janus_cond_wait(static_cast<janus_cond*>(at), &mutex);
    },
};

// Aligned, and bad in each way.
void* bad_object(Bad kind) {
  constexpr std::size_t kBytes = 16;
  return kind == Bad::kStraddling ? static_cast<std::byte*>(BadMemory::pointer(Bad::kGuarded, kBytes))
                                  : BadMemory::pointer(kind, kBytes);
}

}  // namespace

TEST(sync_memory, bad_memory_is_the_callers_panic) {
  for (const unsigned workers : kWorkerCounts)
    run_both_ways(workers, [] {
      for (const Bad kind : kUnreadable) {
        for (const Call call : kCalls) {
          auto user = [&] { (void)call(bad_object(kind)); };
          CHECK(panics(user));
        }
      }
      // No lock of the runtime stayed held.
      janus_mutex mutex = {};
      CHECK_EQ(janus_mutex_lock(&mutex), 0);
      CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    });
}

// Every value that a word may have, written at every moment: calls answer something, and the runtime goes on.
TEST(sync_memory, a_word_that_others_write_to_harms_only_those_who_use_it) {
  for (const unsigned workers : kWorkerCounts)
    run_both_ways(workers, [] {
      alignas(8) std::uint64_t words[2] = {};
      std::atomic<bool> is_over{false};
      auto scribbles = [&] {
        Dice dice(5);
        while (!is_over.load()) {
          const std::uint64_t junk = dice.below(3) == 0 ? dice.next() : std::uint64_t{dice.below(8)};
          std::atomic_ref(words[dice.below(2)]).store(junk << (32 * dice.below(2)));
          janus_yield();
        }
      };
      auto user = [&] {
        Dice dice(static_cast<std::uint64_t>(janus_task_id()));
        for (int i = 0; i < 100; ++i) {
          const std::uint64_t until = janus_now_ns() + 20000;
          switch (dice.below(7)) {
            case 0:
              (void)janus_mutex_lock_until(reinterpret_cast<janus_mutex*>(words), until);
              (void)janus_mutex_unlock(reinterpret_cast<janus_mutex*>(words));
              break;
            case 1:
              (void)janus_rwlock_read_lock_until(reinterpret_cast<janus_rwlock*>(words), until);
              (void)janus_rwlock_read_unlock(reinterpret_cast<janus_rwlock*>(words));
              break;
            case 2:
              (void)janus_rwlock_write_lock_until(reinterpret_cast<janus_rwlock*>(words), until);
              (void)janus_rwlock_write_unlock(reinterpret_cast<janus_rwlock*>(words));
              break;
            case 3:
              (void)janus_semaphore_acquire_until(reinterpret_cast<janus_semaphore*>(words), until);
              (void)janus_semaphore_release(reinterpret_cast<janus_semaphore*>(words), 1 + dice.below(3));
              break;
            case 4:
              (void)janus_barrier_wait_until(reinterpret_cast<janus_barrier*>(words), until);
              break;
            case 5:
              (void)janus_event_wait_until(reinterpret_cast<janus_event*>(words), until);
              (void)janus_event_set(reinterpret_cast<janus_event*>(words));
              break;
            default:
              (void)janus_once_call_until(
                  reinterpret_cast<janus_once*>(words), [](void*) {}, nullptr, until);
          }
        }
      };
      Scope scope, scribbling;
      scribbling.go(scribbles);
      for (int i = 0; i < 6; ++i) scope.go(user);
      CHECK_EQ(scope.end(), 0);
      is_over.store(true);
      CHECK_EQ(scribbling.end(), 0);
      // The queues are right: nobody waits there any more.
      words[0] = words[1] = 0;
      CHECK_EQ(janus_mutex_lock(reinterpret_cast<janus_mutex*>(words)), 0);
      CHECK_EQ(janus_mutex_unlock(reinterpret_cast<janus_mutex*>(words)), 0);
      CHECK_EQ(words[0], 0u);
    });
}

// Tasks wait at an object whose memory then serves another one. As soon as a task waits at that one, they are sent away;
// they take nothing from others, also if they are many, or are cancelled first.
TEST(sync_memory, an_address_can_be_used_again_while_tasks_wait_there) {
  for (const unsigned workers : kWorkerCounts)
    run_both_ways(workers, [] {
      alignas(8) static std::uint64_t words[2];
      static std::atomic<int> stale;
      auto* const mutex = reinterpret_cast<janus_mutex*>(words);
      auto* const event = reinterpret_cast<janus_event*>(words);
      auto waits = [&] {
        const int answer = janus_event_wait(event);
        CHECK(answer == JANUS_E_STALE || answer == JANUS_CANCELLED);
        if (answer == JANUS_E_STALE) stale.fetch_add(1);
      };
      auto locks = [&] {
        CHECK_EQ(janus_mutex_lock(mutex), 0);
        CHECK_EQ(janus_mutex_unlock(mutex), 0);
      };
      for (const int count : {3, 600}) {
        words[0] = words[1] = 0;
        stale = 0;
        Scope scope, told, locking;
        static janus_task tasks[600];
        for (int i = 0; i < count; ++i) tasks[i] = scope.go(waits);
        for (int i = 0; i < count; ++i) CHECK(stops(tasks[i]));
        CHECK(stops(told.go(waits)));
        told.cancel();
        told.end();
        words[0] = 0;
        CHECK_EQ(janus_mutex_lock(mutex), 0);
        CHECK_EQ(janus_mutex_unlock(mutex), 0);
        CHECK_EQ(words[0], 0u);
        CHECK_EQ(janus_mutex_lock(mutex), 0);
        CHECK(stops(locking.go(locks)));
        CHECK_EQ(scope.end(), 0);
        CHECK_EQ(stale.load(), count);
        CHECK_EQ(janus_mutex_unlock(mutex), 0);
        CHECK_EQ(locking.end(), 0);
        CHECK_EQ(words[0], 0u);
      }
    });
}

// The memory goes while tasks wait: each that looks again panics, alone, and the others can be cancelled.
TEST(sync_memory, memory_that_goes_while_tasks_wait_is_their_panic) {
  constexpr long kMmap = 9, kMprotect = 10, kMunmap = 11;
  if (platform::syscall(39, {}) < 0) SKIP("without a kernel no memory goes");
  for (const unsigned workers : kWorkerCounts)
    run_both_ways(workers, [] {
      const long page = platform::syscall(kMmap, {0, 4096, 3, 0x22, -1, 0});
      CHECK(page > 0);
      auto* const mutex = reinterpret_cast<janus_mutex*>(page);
      auto* const semaphore = reinterpret_cast<janus_semaphore*>(page + 64);
      auto holds = [&]() -> std::int64_t {
        CHECK_EQ(janus_mutex_lock(mutex), 0);
        return janus_park(-1);
      };
      std::atomic<int> told{0};
      auto wants = [&] {
        (void)janus_mutex_lock(mutex);  // panics when the holder ends
        told.fetch_add(100);
      };
      auto waits = [&] { told.fetch_add(janus_semaphore_acquire(semaphore) == JANUS_CANCELLED ? 1 : 100); };
      Scope holder, wanting(JANUS_ON_ERROR_COLLECT), waiting;
      const janus_task task = holder.go(holds);
      CHECK(stops(task));
      const janus_task wanted = wanting.go(wants);
      CHECK(stops(wanted));
      CHECK(stops(waiting.go(waits)));
      // It goes for the runtime, but nothing else of the process may get the address.
      CHECK_EQ(platform::syscall(kMprotect, {page, 4096, 0}), 0);
      CHECK_EQ(janus_unpark(task), 0);
      CHECK_EQ(holder.end(), 0);
      CHECK_EQ(wanting.end(), JANUS_PANIC);
      waiting.cancel();
      waiting.end();
      CHECK_EQ(told.load(), 1);
      CHECK_EQ(platform::syscall(kMunmap, {page, 4096}), 0);
    });
}

}  // namespace janus::test
