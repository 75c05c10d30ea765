// SPDX-License-Identifier: Apache-2.0
// locks.cpp: the locks and waits of the C++ library, among tasks; each check has a number, which is the status if it fails.
#include <janus/rt.hpp>

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

#define REQUIRE(number, what) \
  if (!(what)) janus_exit(number)

template <class F>
void together(int count, F body) {
  janus::Nursery nursery;
  for (int i = 0; i < count; i++) (void)nursery.spawn(body);
  REQUIRE(1, nursery.await());
}

// Whether `body`, as a task of its own, ends as a cancelled one.
template <class F>
void is_cancelled_in(int number, F body) {
  janus::Nursery nursery;
  bool went_on = false;
  auto task = nursery.spawn([&] {
    body();
    went_on = true;
  });
  (void)janus::sleep({1000000});
  nursery.cancel();
  const auto result = task.join();
  REQUIRE(number, !result.ok() && result.error().kind == JANUS_KIND_CANCELLED && !went_on);
}

std::mutex mutex;
int inside = 0, sum = 0;

void mutexes() {
  together(8, [] {
    for (int i = 0; i < 50; i++) {
      const std::lock_guard guard(mutex);
      REQUIRE(10, ++inside == 1);
      if (i % 4 == 0) std::this_thread::yield();
      sum++;
      --inside;
    }
  });
  REQUIRE(11, sum == 400);

  std::mutex other;
  together(4, [&] {
    for (int i = 0; i < 50; i++) {
      const std::scoped_lock guard(mutex, other);
      REQUIRE(12, ++inside == 1);
      std::this_thread::yield();
      --inside;
    }
    for (int i = 0; i < 50; i++) {
      const std::scoped_lock guard(other, mutex);
      REQUIRE(12, ++inside == 1);
      --inside;
    }
  });

  std::unique_lock held(mutex);
  together(1, [] { REQUIRE(13, !mutex.try_lock()); });
  held.unlock();
  REQUIRE(14, mutex.try_lock());
  mutex.unlock();
}

void recursive_mutexes() {
  std::recursive_mutex recursive;
  int depth = 0;
  together(4, [&] {
    for (int i = 0; i < 20; i++) {
      const std::lock_guard one(recursive);
      const std::lock_guard two(recursive);
      REQUIRE(20, recursive.try_lock());
      REQUIRE(21, ++depth == 1);
      std::this_thread::yield();
      --depth;
      recursive.unlock();
    }
  });
  recursive.lock();
  recursive.lock();
  recursive.unlock();
  together(1, [&] { REQUIRE(22, !recursive.try_lock()); });
  recursive.unlock();
  together(1, [&] {
    REQUIRE(23, recursive.try_lock());
    recursive.unlock();
  });
}

void timed_mutexes() {
  std::timed_mutex timed;
  std::recursive_timed_mutex again;
  REQUIRE(30, again.try_lock_for(1ms) && again.try_lock_for(1ms));
  again.unlock();
  const std::unique_lock held(timed, 1ms);
  REQUIRE(31, held.owns_lock());
  together(1, [&] {
    const auto before = std::chrono::steady_clock::now();
    REQUIRE(32, !timed.try_lock_for(2ms));
    REQUIRE(33, std::chrono::steady_clock::now() - before >= 2ms);
    REQUIRE(34, !timed.try_lock_for(-1h));
    REQUIRE(35, !timed.try_lock_until(std::chrono::system_clock::now() + 1ms));
    REQUIRE(36, !timed.try_lock_until(std::chrono::steady_clock::time_point::min()));
    REQUIRE(37, !again.try_lock_for(std::chrono::duration<double>(0.001)));
  });
  again.unlock();
  // What would wait for itself ends at once, also for hours.
  REQUIRE(38, !timed.try_lock_for(std::chrono::hours::max()));
}

void shared_mutexes() {
  std::shared_timed_mutex timed;
  std::shared_mutex shared;
  int readers = 0;
  together(6, [&] {
    for (int i = 0; i < 20; i++) {
      if (i % 3 != 0) {
        const std::shared_lock guard(shared);
        __atomic_fetch_add(&readers, 1, __ATOMIC_RELAXED);
        std::this_thread::yield();
        __atomic_fetch_sub(&readers, 1, __ATOMIC_RELAXED);
      } else {
        const std::unique_lock guard(shared);
        REQUIRE(40, __atomic_load_n(&readers, __ATOMIC_RELAXED) == 0);
        std::this_thread::yield();
      }
    }
  });
  const std::shared_lock held(timed);
  together(1, [&] {
    REQUIRE(41, !timed.try_lock() && !timed.try_lock_for(1ms));
    REQUIRE(42, timed.try_lock_shared());
    timed.unlock_shared();
    REQUIRE(43, timed.try_lock_shared_until(std::chrono::steady_clock::now() + 1s));
    timed.unlock_shared();
  });
}

template <class Condition, class Mutex>
void conditions(int number) {
  Condition changed;
  Mutex guard;
  int value = 0;
  {
    janus::Nursery nursery;
    for (int i = 0; i < 3; i++)
      (void)nursery.spawn([&] {
        std::unique_lock lock(guard);
        changed.wait(lock, [&] { return value != 0; });
        if (--value == 0) changed.notify_all();
      });
    (void)nursery.spawn([&] {
      std::unique_lock lock(guard);
      value = 3;
      changed.notify_all();
      while (value != 0) changed.wait(lock);
    });
    REQUIRE(number, nursery.await());
  }
  std::unique_lock lock(guard);
  const auto before = std::chrono::steady_clock::now();
  REQUIRE(number + 1, changed.wait_for(lock, 2ms) == std::cv_status::timeout);
  REQUIRE(number + 2, std::chrono::steady_clock::now() - before >= 2ms && lock.owns_lock());
  REQUIRE(number + 3, changed.wait_until(lock, std::chrono::system_clock::now() - 1h) == std::cv_status::timeout);
  REQUIRE(number + 4, !changed.wait_for(lock, 1ms, [] { return false; }));
  REQUIRE(number + 5, changed.wait_until(lock, std::chrono::steady_clock::time_point::max(), [] { return true; }));
}

void counts() {
  std::counting_semaphore<3> permits(3);
  std::atomic<int> users{0};
  together(8, [&] {
    for (int i = 0; i < 20; i++) {
      permits.acquire();
      REQUIRE(60, ++users <= 3);
      std::this_thread::yield();
      users--;
      permits.release();
    }
  });
  for (int i = 0; i < 3; i++) permits.acquire();
  REQUIRE(61, !permits.try_acquire() && !permits.try_acquire_for(1ms));
  permits.release(0);
  REQUIRE(62, !permits.try_acquire_until(std::chrono::system_clock::now()));
  permits.release(3);

  std::latch latch(5);
  std::atomic<int> came{0};
  together(5, [&] {
    came++;
    latch.arrive_and_wait();
    REQUIRE(63, came == 5);
  });
  REQUIRE(64, latch.try_wait() && !std::latch(1).try_wait());

  int phases = 0, here = 0;
  std::barrier barrier(4, [&]() noexcept { phases++; });
  together(4, [&] {
    const int turns = __atomic_fetch_add(&here, 1, __ATOMIC_RELAXED) == 0 ? 5 : 10;
    for (int i = 0; i < turns; i++) {
      barrier.arrive_and_wait();
      REQUIRE(65, phases >= i + 1);
    }
    if (turns == 5) barrier.arrive_and_drop();
  });
  REQUIRE(66, phases == 10);
  std::barrier<> two(2);
  auto token = two.arrive();
  (void)two.arrive();
  two.wait(std::move(token));
}

void sleeps() {
  const auto before = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(2ms);
  REQUIRE(70, std::chrono::steady_clock::now() - before >= 2ms);
  std::this_thread::sleep_until(before + 4ms);
  REQUIRE(71, std::chrono::steady_clock::now() - before >= 4ms);
  const auto date = std::chrono::system_clock::now() + 1ms;
  std::this_thread::sleep_until(date);
  REQUIRE(72, std::chrono::system_clock::now() >= date);
  std::this_thread::sleep_for(-1h);
  std::this_thread::sleep_for(0ns);
  std::this_thread::sleep_until(std::chrono::steady_clock::time_point::min());
  std::this_thread::sleep_until(std::chrono::system_clock::time_point{});
}

// Who is told to end gets its locks all the same, and ends where it would wait for others.
void cancels() {
  static std::mutex busy;
  static std::condition_variable changed;
  is_cancelled_in(80, [] {
    std::unique_lock lock(mutex);
    for (;;) changed.wait(lock);
  });
  is_cancelled_in(81, [] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return false; });
  });
  is_cancelled_in(82, [] {
    std::condition_variable_any any;
    std::unique_lock lock(mutex);
    any.wait(lock, [] { return false; });
  });
  REQUIRE(83, mutex.try_lock());  // they have unlocked it
  mutex.unlock();
  is_cancelled_in(84, [] { std::binary_semaphore(0).acquire(); });
  is_cancelled_in(85, [] { std::latch(1).wait(); });
  std::barrier<> two(2);
  is_cancelled_in(86, [&] { two.arrive_and_wait(); });
  (void)two.arrive();  // which completes the phase: who was cancelled had come

  bool is_done = false, has_slept = false, has_left = false;
  {
    janus::Nursery nursery;
    (void)nursery.spawn([&] {
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [] { return janus::cancelled(); });  // ends in order
        has_left = true;
      }
      std::this_thread::sleep_for(1h);
      has_slept = true;
    });
    busy.lock();
    (void)nursery.spawn([&] {
      const std::lock_guard guard(busy);
      std::unique_lock lock(mutex);
      REQUIRE(87, changed.wait_for(lock, 1h) == std::cv_status::timeout);
      REQUIRE(88, !changed.wait_for(lock, 1h, [] { return false; }));
      std::timed_mutex timed;
      REQUIRE(89, timed.try_lock_for(1h));
      timed.unlock();
      std::binary_semaphore one(1);
      REQUIRE(90, one.try_acquire_for(1h) && !one.try_acquire_for(1h));
      std::shared_mutex shared;
      const std::shared_lock reads(shared);
      is_done = true;
    });
    (void)janus::sleep({1000000});
    nursery.cancel();
    (void)janus::sleep({1000000});
    REQUIRE(91, !is_done);  // it waits for the lock that we hold
    busy.unlock();
    (void)nursery.await();
  }
  REQUIRE(92, is_done && has_slept && has_left);

  // A half of a fork ends alone.
  int went_on = 0;
  {
    janus::Nursery nursery;
    (void)nursery.spawn([&] {
      const auto half = [] { std::binary_semaphore(0).acquire(); };
      const auto [one, other] = janus::fork_join(half, half);
      went_on = one.error().kind == JANUS_KIND_CANCELLED && other.error().kind == JANUS_KIND_CANCELLED;
    });
    (void)janus::sleep({1000000});
    nursery.cancel();
    (void)nursery.await();
  }
  REQUIRE(93, went_on == 1);

  // In a shield waits go on.
  std::binary_semaphore later(0);
  {
    janus::Nursery nursery;
    (void)nursery.spawn([&] {
      (void)janus_shield([](void* it) -> std::int64_t { return static_cast<std::binary_semaphore*>(it)->acquire(), 0; },
                         &later);
      went_on = 2;
    });
    (void)janus::sleep({1000000});
    nursery.cancel();
    (void)janus::sleep({1000000});
    later.release();
    (void)nursery.await();
  }
  REQUIRE(94, went_on == 2);
}

}  // namespace

int main() {
  mutexes();
  recursive_mutexes();
  timed_mutexes();
  shared_mutexes();
  conditions<std::condition_variable, std::mutex>(50);
  conditions<std::condition_variable_any, std::recursive_timed_mutex>(50);
  counts();
  sleeps();
  cancels();
  return 0;
}
