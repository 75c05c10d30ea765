// SPDX-License-Identifier: Apache-2.0
// rt.hpp: results move once, closures are destroyed once, failures are returned as values.
#include <janus/rt.hpp>

#include <chrono>

#include "tests/api/counted.h"
#include "tests/api/in_task.h"

namespace {

using namespace janus;
using test::Counted;
using test::eventually;
using test::stats_of;

TASK_TEST(cpp, a_task_gives_what_its_closure_returns) {
  Nursery nursery;
  REQUIRE(nursery);
  auto number = nursery.spawn([] { return -7; });
  auto nothing = nursery.spawn([] {});
  auto text = nursery.spawn([] { return "text"; });
  CHECK_EQ(number.join().value(), -7);
  CHECK(nothing.join().ok());
  CHECK_STREQ(text.join().value(), "text");
  CHECK(nursery.await().ok());
}

TASK_TEST(cpp, a_result_moves_out_once) {
  {
    Nursery nursery;
    auto task = nursery.spawn([] { return Counted(5); });
    CHECK(task);
    auto first = task.join();
    CHECK(!task);
    CHECK_EQ(first.value().value(), 5);
    const auto second = task.join();
    CHECK_EQ(second.error().code, JANUS_E_STATE);
    CHECK_EQ(second.error().kind, Error::kCall);
  }
  CHECK_EQ(Counted::alive(), 0);
}

TASK_TEST(cpp, a_result_that_nobody_takes_is_destroyed) {
  {
    Nursery nursery;
    auto kept = nursery.spawn([] { return Counted(1); });
    nursery.spawn([] { return Counted(2); });
    CHECK(nursery.await().ok());
  }
  CHECK_EQ(Counted::alive(), 0);
}

TASK_TEST(cpp, a_handle_outlives_its_nursery_with_the_result) {
  Task<Counted> task = [] {
    Nursery nursery;
    return nursery.spawn([] { return Counted(9); });
  }();
  CHECK(task.done());
  CHECK_EQ(task.join().value().value(), 9);
  CHECK_EQ(Counted::alive(), 0);
}

TASK_TEST(cpp, a_move_only_closure_is_moved_in_and_destroyed_once) {
  {
    Nursery nursery;
    auto task = nursery.spawn([counted = Counted(3)] { return counted.value(); });
    CHECK_EQ(task.join().value(), 3);
    CHECK(nursery.await().ok());
    CHECK_EQ(Counted::alive(), 0);
  }
  CHECK_EQ(Counted::alive(), 0);
}

TASK_TEST(cpp, closures_of_any_size_and_alignment_arrive_whole) {
  struct alignas(128) Wide {
    char bytes[384];
  };
  Wide wide = {};
  wide.bytes[383] = 11;
  Nursery nursery;
  auto task =
      nursery.spawn([wide] { return reinterpret_cast<std::uintptr_t>(&wide) % 128 == 0 ? wide.bytes[383] : 0; });
  CHECK_EQ(task.join().value(), 11);
}

TASK_TEST(cpp, the_closures_of_tasks_that_never_ran_are_destroyed) {
  {
    Nursery nursery;
    for (int i = 0; i < 200; ++i)
      nursery.spawn([counted = Counted(i)] {
        while (yield().ok()) {
        }
      });
    nursery.cancel();
    const Result<void> result = nursery.await();
    CHECK_EQ(result.error().code, JANUS_CANCELLED);
    CHECK_EQ(result.error().kind, JANUS_KIND_CANCELLED);
  }
  CHECK_EQ(Counted::alive(), 0);
}

TASK_TEST(cpp, spawning_in_a_closed_nursery_is_the_error_that_join_gives) {
  {
    Nursery nursery;
    nursery.close();
    auto task = nursery.spawn([counted = Counted(1)] { return 1; });
    CHECK(!task);
    CHECK_EQ(task.id(), 0u);
    const auto result = task.join();
    CHECK(!result.ok());
    CHECK_EQ(result.error().kind, Error::kCall);
  }
  CHECK_EQ(Counted::alive(), 0);
}

TASK_TEST(cpp, a_closure_fails_by_the_error_it_returns) {
  Nursery nursery({.on_error = OnError::kCollect});
  auto bad = nursery.spawn([]() -> Result<int> { return Error{-42, JANUS_KIND_CHILD_FAILED}; });
  auto good = nursery.spawn([]() -> Result<int> { return 6; });
  auto worse = nursery.spawn([]() -> Result<void> { return Error{5, 77}; });
  CHECK_EQ(bad.join().error().code, -42);
  CHECK_EQ(good.join().value(), 6);
  const Error odd = worse.join().error();
  CHECK_EQ(odd.code, 5);
  CHECK_EQ(odd.kind, 77u);
  const Result<void> result = nursery.await();
  CHECK(!result.ok());
  CHECK_EQ(result.error().kind, JANUS_KIND_CHILD_FAILED);
}

TASK_TEST(cpp, a_panic_is_a_value_to_whoever_joins) {
  Nursery nursery({.on_error = OnError::kCollect});
  auto task = nursery.spawn([]() -> int { janus_task_panic("on purpose"); });
  const auto result = task.join();
  CHECK_EQ(result.error().code, JANUS_PANIC);
  CHECK_EQ(result.error().kind, JANUS_KIND_PANIC);
  CHECK_EQ(nursery.await().error().kind, JANUS_KIND_PANIC);
}

TASK_TEST(cpp, value_of_a_failure_panics_the_task_that_asked) {
  Nursery nursery;
  auto task = nursery.spawn([] {
    const Result<int> failed = Error{-5, JANUS_KIND_CHILD_FAILED};
    return failed.value();
  });
  CHECK_EQ(task.join().error().code, JANUS_PANIC);
}

TASK_TEST(cpp, letting_a_handle_go_neither_cancels_nor_waits) {
  std::atomic<int> ran = 0;
  Nursery nursery;
  for (int i = 0; i < 100; ++i) nursery.spawn([&ran] { ran.fetch_add(1); });
  CHECK(nursery.await().ok());
  CHECK_EQ(ran.load(), 100);
}

TASK_TEST(cpp, a_cancelled_task_says_so) {
  Nursery nursery;
  auto task = nursery.spawn([]() -> Result<int> {
    while (!cancelled()) (void)yield();
    return Error{JANUS_CANCELLED, JANUS_KIND_CANCELLED};
  });
  CHECK_GT(task.id(), 1u);
  const std::uint64_t id = task.id();
  CHECK(!task.done());
  task.cancel();
  CHECK_EQ(task.join().error().kind, JANUS_KIND_CANCELLED);
  CHECK_EQ(task.id(), id);
}

TASK_TEST(cpp, the_destructor_waits) {
  std::atomic<bool> ended = false;
  {
    Nursery nursery;
    nursery.spawn([&ended] {
      for (int i = 0; i < 100; ++i) (void)yield();
      ended = true;
    });
  }
  CHECK(ended.load());
}

TASK_TEST(cpp, results_give_value_or) {
  Result<Counted> good = Counted(1);
  Result<Counted> bad = Error{-1, JANUS_KIND_CANCELLED};
  CHECK_EQ(std::move(good).value_or(Counted(2)).value(), 1);
  CHECK_EQ(std::move(bad).value_or(Counted(2)).value(), 2);
  Result<int> number = 4;
  number = Error{-2, JANUS_KIND_PANIC};
  CHECK(!number);
  number = 5;
  const Result<int> copy = number;
  CHECK_EQ(copy.value_or(0), 5);
  CHECK_EQ(copy.error().code, 0);
}

TASK_TEST(cpp, channels_carry_what_only_moves) {
  {
    Channel<Counted> channel(4);
    Nursery nursery;
    auto sum = nursery.spawn([channel] {
      int total = 0;
      for (Counted& counted : channel) total += counted.value();
      return total;
    });
    for (int i = 0; i < 100; ++i) CHECK(channel.send(Counted(i)).ok());
    CHECK(channel.close().ok());
    CHECK_EQ(sum.join().value(), 4950);
    CHECK_EQ(channel.send(Counted(1)).error().code, JANUS_E_CLOSED);
    CHECK_EQ(channel.recv().error().code, JANUS_E_CLOSED);
  }
  CHECK_EQ(Counted::alive(), 0);
}

TASK_TEST(cpp, messages_left_in_a_channel_are_destroyed_with_its_last_copy) {
  {
    const Channel<Counted> channel(10);
    const Channel<Counted> copy = channel;
    for (int i = 0; i < 10; ++i) CHECK(copy.send(Counted(i)).ok());
  }
  CHECK_EQ(Counted::alive(), 0);
}

TASK_TEST(cpp, a_value_that_could_not_be_sent_is_still_there) {
  const Channel<Counted> channel(1);
  Counted first(1), second(2);
  CHECK(channel.try_send(std::move(first)).ok());
  CHECK_EQ(channel.try_send(std::move(second)).error().code, JANUS_E_WOULD_BLOCK);
  CHECK_EQ(second.value(), 2);
  CHECK_EQ(channel.try_recv().value().value(), 1);
  CHECK_EQ(channel.try_recv().error().code, JANUS_E_WOULD_BLOCK);
}

TASK_TEST(cpp, plain_values_travel_as_bytes) {
  struct Point {
    int x, y;
  };
  const Channel<Point> channel;
  Nursery nursery;
  nursery.spawn([channel] {
    for (int i = 0; i < 50; ++i) (void)channel.send({i, -i});
    (void)channel.close();
  });
  int sum = 0, count = 0;
  for (const Point& point : channel) sum += point.x + point.y, ++count;
  CHECK_EQ(sum, 0);
  CHECK_EQ(count, 50);
}

long fib(int n) {
  if (n < 2) return n;
  Nursery nursery;
  auto left = nursery.spawn([n] { return fib(n - 1); });
  const long right = fib(n - 2);
  return left.join().value() + right;
}

TASK_TEST(cpp, a_recursion_of_tasks_gives_its_memory_back) {
  CHECK_EQ(fib(16), 987);
  const std::uint64_t before = stats_of().bytes_in_use;
  for (int i = 0; i < 3; ++i) CHECK_EQ(fib(16), 987);
  CHECK_LE(stats_of().bytes_in_use, before + before / 2 + (1 << 20));
}

TASK_TEST(cpp_api, a_guard_unlocks_at_the_end_of_its_block) {
  Mutex mutex;
  RwLock shared;
  Condition changed;
  int value = 0;
  Nursery nursery;
  {
    Mutex::Lock lock = mutex.lock();
    CHECK(lock && !lock.is_poisoned());
    CHECK(!mutex.try_lock());
    CHECK_EQ(mutex.try_lock().error().code, JANUS_E_WOULD_BLOCK);
    auto setter = nursery.spawn([&] {
      const Mutex::Lock theirs = mutex.lock();
      CHECK(theirs);
      value = 7;
      changed.broadcast();
    });
    CHECK(changed.wait(lock, [&] { return value == 7; }).ok());
    CHECK(setter.join().ok());
  }
  CHECK(mutex.try_lock());
  {
    Mutex::Lock first = mutex.lock();
    const Mutex::Lock second = std::move(first);
    CHECK(!first && second);
  }
  {
    auto one = shared.read(), other = shared.try_read();
    CHECK(one && other && !shared.try_write());
  }
  CHECK(shared.write());
  CHECK(shared.try_write());
  Semaphore permits(1);
  CHECK(permits.acquire().ok() && !permits.try_acquire().ok() && permits.release().ok() && permits.try_acquire().ok());
  {
    Nursery broken({.on_error = OnError::kCollect});
    (void)broken.spawn([&] {
      CHECK_EQ(janus_mutex_lock(mutex.raw()), 0);
      janus_task_panic("with a lock");
    });
    (void)broken.await();
  }
  const Mutex::Lock lock = mutex.lock();
  CHECK(lock && lock.is_poisoned() && mutex.heal().ok());
}

TASK_TEST(cpp_api, durations_of_the_cxx_library_are_rounded_up_and_never_wrap) {
  using namespace std::chrono_literals;
  using std::chrono::duration, std::chrono::hours, std::chrono::nanoseconds, detail::duration_of;
  static_assert(duration_of(5ms) == 5_ms && duration_of(2h) == 7200_s && duration_of(nanoseconds(1)) == 1_ns);
  static_assert(duration_of(0s) == 0_ns && duration_of(-1h) == 0_ns && duration_of(hours::min()) == 0_ns);
  static_assert(duration_of(hours::max()).ns == UINT64_MAX && duration_of(nanoseconds::max()).ns == INT64_MAX);
  static_assert(duration_of(duration<std::int64_t, std::pico>(1001)) == 2_ns);
  static_assert(duration_of(duration<unsigned char>(255)) == 255_s);
  static_assert(duration_of(duration<double>(0.25)) == 250_ms && duration_of(duration<double, std::nano>(1.5)) == 2_ns);
  static_assert(duration_of(duration<float>(1e30f)).ns == UINT64_MAX && duration_of(duration<double>(-1)) == 0_ns);
  static_assert(duration_of(duration<double>(__builtin_nan(""))).ns == UINT64_MAX);
  CHECK_EQ(deadline_in(hours::max()), UINT64_MAX);

  const std::uint64_t before = janus_now_ns();
  CHECK(deadline_in(3ms) >= before + 3'000'000);
  CHECK(sleep(1ms).ok() && sleep(1_ms).ok());
  CHECK(janus_now_ns() - before >= 2'000'000);
  CHECK(sleep(-1h).ok());

  Semaphore none(0);
  RwLock shared;
  CHECK_EQ(none.acquire_until(deadline_in(1ms)).error().code, JANUS_E_TIMEOUT);
  const auto writing = shared.write_until(deadline_in(1h));
  Nursery nursery;
  (void)nursery.spawn([&] {
    CHECK_EQ(shared.read_until(deadline_in(1ms)).error().code, JANUS_E_TIMEOUT);
    CHECK_EQ(shared.write_until(deadline_in(1ms)).error().code, JANUS_E_TIMEOUT);
  });
  CHECK(nursery.await().ok());
}

TASK_TEST(cpp, blocking_gives_what_its_closure_returns) {
  CHECK_EQ(blocking([] { return -7; }).value(), -7);
  CHECK(blocking([] {}).ok());
  const Counted seven(7);
  CHECK_EQ(blocking([&] { return Counted(seven.value()); }).value().value(), 7);
  CHECK_EQ(Counted::alive(), 1);
  const auto failed = blocking([]() -> Result<int> { return Error{-5, JANUS_KIND_CHILD_FAILED}; });
  CHECK(!failed);
  CHECK_EQ(failed.error().code, -5);
  Nursery nursery;
  auto cancelled = nursery.spawn([] {
    CHECK_EQ(janus_park(-1), JANUS_CANCELLED);
    CHECK_EQ(blocking([] { return 1; }).error().code, JANUS_CANCELLED);
  });
  cancelled.cancel();
  (void)nursery.await();
}

TASK_TEST(cpp, a_pin_ends_with_its_block) {
  const std::uint64_t before = stats_of().tasks_pinned;
  {
    const Pin pin;
    CHECK(static_cast<bool>(pin));
    CHECK_EQ(stats_of().tasks_pinned, before + 1);
    CHECK(yield().ok());
  }
  CHECK_EQ(stats_of().tasks_pinned, before);
  CHECK_EQ(janus_task_unpin(), JANUS_E_STATE);
}

}  // namespace
