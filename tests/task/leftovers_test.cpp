// SPDX-License-Identifier: Apache-2.0
// leftovers_test.cpp — a destroyed runtime has unmapped all its memory, whatever its tasks did and however they ended.
#include "tests/api/world.h"
#include "tests/fake_platform/fake_platform.h"

namespace janus::test {

namespace {

std::int64_t panic(void*) {
  janus_task_panic("as ordered");
  return 0;
}
std::int64_t keep_a_local(void*) {
  static janus_local_key key;
  if (key.raw == 0) CHECK_EQ(janus_local_new(&key, nullptr), 0);
  return janus_local_set(key, &key);
}
std::int64_t leave_blocks(void*) {
  for (const std::size_t size : {100u, 50'000u, 5'000'000u}) CHECK(janus_alloc(size) != nullptr);
  return 0;
}
std::int64_t leave_a_channel(void*) {
  return janus_channel_create(100, 10) != nullptr ? 0 : JANUS_E_NO_MEMORY;
}

// How many more bytes are mapped after a second runtime with the same `body` has come and gone than after the first.
template <class Body>
std::uint64_t left_by(unsigned workers, long status, Body body) {
  std::uint64_t left[2];
  for (std::uint64_t& bytes : left) {
    CHECK_EQ(run_in(with_workers(workers), body), status);
    bytes = fake_platform::mapped_bytes();
  }
  CHECK_EQ(fake_platform::stray_unmaps(), 0u);
  return left[1] - left[0];
}

std::uint64_t left_by_tasks(unsigned workers, janus_task_fn fn, long status) {
  return left_by(workers, status, [fn] {
    Scope scope(JANUS_ON_ERROR_COLLECT);
    for (int n = 0; n < 20; ++n) scope.go(fn, nullptr);
    return scope.end();
  });
}

}  // namespace

TEST(leftovers, a_runtime_that_is_gone_has_nothing_mapped) {
  for (unsigned workers : {1u, 4u}) {
    fake_platform::reset();
    CHECK_EQ(left_by_tasks(workers, return_zero, 0), 0u);
    CHECK_EQ(left_by_tasks(workers, panic, JANUS_PANIC), 0u);
    CHECK_EQ(left_by_tasks(workers, keep_a_local, 0), 0u);
    CHECK_EQ(left_by_tasks(workers, leave_blocks, 0), 0u);
    CHECK_EQ(left_by_tasks(workers, leave_a_channel, 0), 0u);
  }
}

TEST(leftovers, a_report_of_a_deadlock_leaves_nothing_mapped) {
  for (unsigned workers : {1u, 4u}) {
    fake_platform::reset();
    CHECK_EQ(left_by(workers, JANUS_E_DEADLOCK,
                     [] {
                       Scope scope;
                       scope.go(park_until_cancelled, nullptr);
                       return scope.end();
                     }),
             0u);
  }
}

}  // namespace janus::test
