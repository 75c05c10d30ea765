// SPDX-License-Identifier: Apache-2.0
// waiting_thread_test.cpp — a thread outside tasks that awaits a nursery sleeps until it is woken: it neither spins nor
// polls. The fake clock advances only during a sleep with a time limit, so polling would show.
#include "tests/api/world.h"
#include "tests/fake_platform/fake_platform.h"
#include "tests/harness/thread_group.h"

namespace janus::test {

TEST(outside, a_thread_that_awaits_sleeps_until_it_is_woken) {
  fake_platform::reset();
  const janus_rt_config config = with_workers(1);
  janus_rt* const rt = janus_rt_create(&config);
  REQUIRE(rt != nullptr);
  std::atomic<bool> runs{false}, may_end{false};
  auto holds_its_worker = [&] {
    runs.store(true);
    while (!may_end.load()) __builtin_ia32_pause();
    return 0;
  };
  janus_nursery* const nursery = janus_nursery_open(rt, nullptr);
  CHECK(spawn(nursery, call_closure<decltype(holds_its_worker)>, &holds_its_worker).raw != 0);
  std::uint64_t began_ns = 0, ended_ns = 0;
  auto watch = [&] {
    while (!runs.load()) __builtin_ia32_pause();
    began_ns = platform::now_ns();
    // The fake platform ends endless sleeps early; the caller then sleeps again.
    const std::uint64_t before = fake_platform::waits();
    while (fake_platform::waits() < before + 10) __builtin_ia32_pause();
    ended_ns = platform::now_ns();
    may_end.store(true);
  };
  ThreadGroup threads;
  threads.start(watch);
  CHECK_EQ(janus_nursery_await(nursery, nullptr), 0);
  threads.join();
  CHECK_EQ(ended_ns, began_ns);
  CHECK_EQ(janus_nursery_destroy(nursery), 0);
  janus_rt_destroy(rt);
}

}  // namespace janus::test
