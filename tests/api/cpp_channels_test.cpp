// SPDX-License-Identifier: Apache-2.0
// rt.hpp: several values in one call, selects, and calls that have so long.
#include <janus/rt.hpp>

#include "tests/api/counted.h"
#include "tests/api/in_task.h"

#if __STDC_HOSTED__  // after rt.hpp, which does without it
#include <chrono>
#endif

namespace {

using namespace janus;
using namespace janus::literals;
using test::Counted;

// Can be copied, too.
struct Copied : Counted {
  using Counted::Counted;
  Copied(const Copied& other) noexcept : Counted(other.value()) {}
  Copied(Copied&&) noexcept = default;
  Copied& operator=(Copied&&) noexcept = default;
};

template <class T>
class View {
 public:
  View(T* data, std::size_t size) : data_(data), size_(size) {}
  T* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  T* data_;
  std::size_t size_;
};

template <class T>
bool waits(const Task<T>& task) {
  return test::eventually([&] { return janus_task_state(janus_task_find(task.id())) == JANUS_TASK_BLOCKED; });
}

// As std::chrono::duration.
template <long kNum, long kDen>
struct Ratio {
  static constexpr long num = kNum, den = kDen;
};
template <class Rep, class Period>
struct Span {
  using rep = Rep;
  using period = Period;
  constexpr Rep count() const { return of; }
  Rep of;
};

TASK_TEST(cpp_channels, many_plain_values_travel_in_one_call) {
  const Channel<int> channel(4);
  const int numbers[] = {1, 2, 3, 4, 5, 6};
  int got[6] = {};
  CHECK_EQ(channel.send_many(numbers).value(), 4u);
  CHECK_EQ(channel.recv_many(got, 3).value(), 3u);
  CHECK_EQ(channel.send_many(View<const int>(numbers + 4, 2)).value(), 2u);
  CHECK_EQ(channel.recv_many(View<int>(got + 3, 3)).value(), 3u);
  for (int i = 0; i < 6; ++i) CHECK_EQ(got[i], i + 1);
  CHECK(channel.close().ok());
  CHECK_EQ(channel.send_many(numbers).error().code, JANUS_E_CLOSED);
  CHECK_EQ(channel.recv_many(got).error().code, JANUS_E_CLOSED);
  CHECK_EQ(channel.send_many(numbers, 0).value(), 0u);
}

TASK_TEST(cpp_channels, many_values_are_moved_from_only_if_they_are_sent) {
  {
    const Channel<Counted> channel(3);
    Counted values[5] = {Counted(1), Counted(2), Counted(3), Counted(4), Counted(5)};
    CHECK_EQ(channel.send_many(values).value(), 3u);
    CHECK_EQ(values[2].value(), -1);
    CHECK_EQ(values[3].value(), 4);
    CHECK_EQ(values[4].value(), 5);
    Counted got[5];
    CHECK_EQ(channel.recv_many(got).value(), 3u);
    for (int i = 0; i < 3; ++i) CHECK_EQ(got[i].value(), i + 1);
    CHECK(channel.close().ok());
    CHECK_EQ(channel.send_many(values + 3, 2).error().code, JANUS_E_CLOSED);
    CHECK_EQ(values[4].value(), 5);
    const Channel<Counted> wide(100);
    Counted more[40];
    CHECK_EQ(wide.send_many(more).value(), 16u);  // as many as there are boxes for
    CHECK_EQ(wide.send_many(more, 0).value(), 0u);
  }
  CHECK_EQ(Counted::alive(), 0);
}

TASK_TEST(cpp_channels, a_select_takes_one_case) {
  const Channel<int> numbers(1), others(1);
  const Channel<Counted> boxes(1);
  int number = 0;
  Counted in, out(9);
  CHECK(numbers.send(5).ok());
  auto taken = select(recv_case(others, number), recv_case(numbers, number), recv_case(boxes, in));
  CHECK_EQ(taken.value().index, 1u);
  CHECK(taken.value().status.ok());
  CHECK_EQ(number, 5);
  taken = select(recv_case(numbers, number), send_case(boxes, std::move(out)));
  CHECK_EQ(taken.value().index, 1u);
  CHECK_EQ(out.value(), -1);
  taken = try_select(recv_case(numbers, number), send_case(boxes, Counted(10)));
  CHECK_EQ(taken.error().code, JANUS_E_TIMEOUT);
  taken = select(recv_case(boxes, in));
  CHECK_EQ(in.value(), 9);
  taken = select(send_case(others, 7));
  CHECK_EQ(others.recv().value(), 7);
}

TASK_TEST(cpp_channels, what_a_select_did_not_send_is_still_there) {
  {
    const Channel<Copied> full(1);
    const Channel<int> ready(1);
    CHECK(full.send(Copied(1)).ok());
    CHECK(ready.send(3).ok());
    Copied moved(2);
    const Copied copied(4);
    int number = 0;
    auto taken = select(send_case(full, std::move(moved)), send_case(full, copied), recv_case(ready, number));
    CHECK_EQ(taken.value().index, 2u);
    CHECK_EQ(moved.value(), 2);
    CHECK_EQ(select_for(100_us, send_case(full, std::move(moved))).error().code, JANUS_E_TIMEOUT);
    CHECK_EQ(moved.value(), 2);
    CHECK_EQ(full.recv().value().value(), 1);
    CHECK(select(send_case(full, copied)).value().status.ok());  // an lvalue is copied
    CHECK_EQ(copied.value(), 4);
    CHECK_EQ(full.recv().value().value(), 4);
    CHECK(full.close().ok());
    taken = select(send_case(full, std::move(moved)));
    CHECK_EQ(taken.value().index, 0u);
    CHECK_EQ(taken.value().status.error().code, JANUS_E_CLOSED);
    CHECK_EQ(moved.value(), 2);
    Copied into(8);
    taken = select(recv_case(full, into));
    CHECK_EQ(taken.value().status.error().code, JANUS_E_CLOSED);
    CHECK_EQ(into.value(), 8);
  }
  CHECK_EQ(Counted::alive(), 0);
}

TASK_TEST(cpp_channels, a_select_waits_until_it_is_cancelled_or_late) {
  const Channel<int> never;
  int number = 0;
  const std::uint64_t before = janus_now_ns();
  CHECK_EQ(select_until(before + 2'000'000, recv_case(never, number)).error().code, JANUS_E_TIMEOUT);
  CHECK_GE(janus_now_ns(), before + 2'000'000);
  CHECK_EQ(select_for(Span<long, Ratio<1, 1000>>{1}, recv_case(never, number)).error().code, JANUS_E_TIMEOUT);
  CHECK_EQ(select_for(Span<int, Ratio<1, 1>>{-5}, recv_case(never, number)).error().code, JANUS_E_TIMEOUT);
  Nursery nursery;
  auto waiter = nursery.spawn([never] {
    int into = 0;
    return select(recv_case(never, into)).error().code;
  });
  CHECK(waits(waiter));
  nursery.cancel();
  (void)nursery.await();
  CHECK_EQ(waiter.join().value(), JANUS_CANCELLED);
}

TASK_TEST(cpp_channels, a_call_in_time_gives_what_it_returns) {
  CHECK_EQ(timeout(3600_s, [] { return 7; }).value(), 7);
  CHECK(timeout(Span<long, Ratio<3600, 1>>{1}, [] {}).ok());
  const Result<int> failed = timeout(3600_s, []() -> Result<int> { return Error{-77, JANUS_KIND_CHILD_FAILED}; });
  CHECK_EQ(failed.error().code, -77);
  const auto panicked = timeout(3600_s, [] { janus_task_panic("in a timeout"); });
  CHECK_EQ(panicked.error().kind, JANUS_KIND_PANIC);
  CHECK_EQ(timeout(3600_s, [box = Counted(4)]() mutable { return std::move(box); }).value().value(), 4);
}

TASK_TEST(cpp_channels, a_call_that_is_late_is_cancelled_with_all_below_it) {
  const Channel<int> never;
  std::atomic<int> began{0}, ended{0};
  const auto late = timeout(20_ms, [&] {
    began.fetch_add(1);
    Nursery inner;
    auto child = inner.spawn([&] {
      began.fetch_add(1);
      const int code = static_cast<int>(never.recv().error().code);
      ended.fetch_add(1);
      return code;
    });
    const Result<int> got = never.recv();
    ended.fetch_add(1);
    return got;
  });
  CHECK_EQ(late.error().code, JANUS_E_TIMEOUT);
  CHECK_GE(began.load(), 1);
  CHECK_EQ(ended.load(), began.load());
  CHECK_EQ(timeout(1_ms, [&] { return janus::sleep(3600_s); }).error().code, JANUS_E_TIMEOUT);
  // A value that comes all the same.
  CHECK_EQ(timeout(20_ms, [&] { return never.recv().ok() ? 1 : 2; }).value(), 2);
  // A time that has passed already.
  CHECK_EQ(timeout(0_ns, [&] { return never.recv(); }).error().code, JANUS_E_TIMEOUT);
}

TASK_TEST(cpp_channels, a_cancel_of_the_caller_is_no_timeout) {
  const Channel<int> never;
  Nursery nursery;
  auto outer = nursery.spawn([&] { return timeout(3600_s, [&] { return never.recv(); }).error().code; });
  CHECK(waits(outer));
  nursery.cancel();
  (void)nursery.await();
  CHECK_EQ(outer.join().value(), JANUS_CANCELLED);
  // The outer time is the shorter one.
  const auto nested = timeout(2_ms, [&] { return timeout(3600_s, [&] { return never.recv(); }); });
  CHECK_EQ(nested.error().code, JANUS_E_TIMEOUT);
}

std::int64_t wait_at(void* gate) {
  return static_cast<const Channel<int>*>(gate)->recv().ok() ? 0 : -1;
}

TASK_TEST(cpp_channels, a_cancel_of_the_caller_comes_before_its_timeout) {
  std::atomic<bool> is_late{false};
  Channel<int> gate(1);
  Nursery nursery;
  auto outer = nursery.spawn([&] {
    const auto late = timeout(50_ms, [&]() -> Result<int> {
      (void)janus_sleep_ns(UINT64_MAX);
      is_late = true;
      CHECK_EQ(janus_shield(wait_at, &gate), 0);  // however long the cancel takes to come
      return Error{JANUS_CANCELLED, JANUS_KIND_CANCELLED};
    });
    return late.error().code;
  });
  CHECK(test::eventually([&] { return is_late.load() || outer.done(); }));
  nursery.cancel();
  CHECK(gate.send(1).ok());
  (void)nursery.await();
  CHECK_EQ(outer.join().value(), JANUS_CANCELLED);
}

template <class Rep, class Period>
constexpr std::uint64_t ns_of(Rep count) {
  return detail::duration_of(Span<Rep, Period>{count}).ns;
}
static_assert(ns_of<long, Ratio<1, 1>>(5) == 5'000'000'000);
static_assert(ns_of<int, Ratio<1, 1000>>(-1) == 0);
static_assert(ns_of<unsigned, Ratio<1, 3'000'000'000>>(1) == 1);  // rounded up
static_assert(ns_of<unsigned, Ratio<1, 3'000'000'000>>(3'000'000'001u) == 1'000'000'001);
static_assert(ns_of<std::int64_t, Ratio<1, 1'000'000'000>>(INT64_MAX) == INT64_MAX);
static_assert(ns_of<std::int64_t, Ratio<1, 1LL << 40>>(3LL << 40) == 3'000'000'000);
static_assert(ns_of<std::int64_t, Ratio<INT64_MAX, 1>>(0) == 0);
static_assert(ns_of<std::int64_t, Ratio<86400, 1>>(INT64_MAX) == UINT64_MAX);
static_assert(ns_of<std::int64_t, Ratio<INT64_MAX, 1>>(INT64_MAX) == UINT64_MAX);
static_assert(ns_of<double, Ratio<1, 1>>(1.5) == 1'500'000'000);
static_assert(ns_of<double, Ratio<1, 1'000'000'000>>(0.25) == 1);
static_assert(ns_of<double, Ratio<1, 1>>(1e300) == UINT64_MAX);
static_assert(ns_of<float, Ratio<1, 1>>(-0.5f) == 0);
static_assert(ns_of<double, Ratio<1, 1>>(__builtin_nan("")) == UINT64_MAX);

#if __STDC_HOSTED__
static_assert(detail::duration_of(std::chrono::hours(1)).ns == 3'600'000'000'000);
static_assert(detail::duration_of(std::chrono::duration<double>(0.5)).ns == 500'000'000);

TASK_TEST(cpp_channels, the_durations_of_the_standard_library_are_taken) {
  using namespace std::chrono_literals;
  const Channel<int> never;
  int number = 0;
  const std::uint64_t before = janus_now_ns();
  CHECK(janus::sleep(1ms).ok());
  CHECK_EQ(select_for(1ms, recv_case(never, number)).error().code, JANUS_E_TIMEOUT);
  CHECK_EQ(timeout(1ms, [&] { return never.recv(); }).error().code, JANUS_E_TIMEOUT);
  CHECK_GE(janus_now_ns(), before + 3'000'000);
}
#endif

}  // namespace
