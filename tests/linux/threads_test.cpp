// SPDX-License-Identifier: Apache-2.0
// threads_test.cpp — threads without a libc: what they have of their own, where they run, what is left of them.
#include "rt/platform.h"
#include "tests/harness/test.h"
#include "tests/linux/kernel_eye.h"

namespace {

using namespace janus;
using Word = std::atomic<std::uint32_t>;

struct Seen {
  Word done{0};
  char name[16] = {};
  std::uint64_t canary = 0, own_address = 0;
  void* slot = &done;
  std::uint64_t cpus[128] = {};
  std::uint64_t alternate[3] = {};
  std::uint64_t blocked = 0;
};

std::uint64_t canary() {
  std::uint64_t value;
  asm volatile("mov %%fs:0x28, %0" : "=r"(value));
  return value;
}

void look_around(void* arg) {
  auto& seen = *static_cast<Seen*>(arg);
  test::kernel(157, 16, seen.name);  // prctl(PR_GET_NAME)
  seen.canary = canary();
  asm volatile("mov %%fs:0, %0" : "=r"(seen.own_address));
  seen.slot = platform::worker_slot();
  test::kernel(204, 0, sizeof seen.cpus, seen.cpus);  // sched_getaffinity
  test::kernel(131, nullptr, seen.alternate);         // sigaltstack
  test::kernel(14, 0, nullptr, &seen.blocked, 8);     // rt_sigprocmask
  test::bump(seen.done);
  platform::exit_thread();
}

TEST(threads, a_thread_has_its_name_and_no_worker_slot) {
  static Seen seen;
  int slot = 0;
  platform::set_worker_slot(&slot);  // must not be inherited
  char name[16] = "janus/7";
  REQUIRE(platform::start_thread(look_around, &seen, -1, name));
  name[0] = 'x';  // the caller's copy is the caller's
  REQUIRE(test::reaches(seen.done, 1));
  CHECK(platform::worker_slot() == &slot);
  platform::set_worker_slot(nullptr);
  CHECK_STREQ(seen.name, "janus/7");
  CHECK(seen.slot == nullptr);
}

TEST(threads, all_threads_share_one_canary_that_ends_strings) {
  static Seen seen;
  REQUIRE(platform::start_thread(look_around, &seen, -1, nullptr));
  REQUIRE(test::reaches(seen.done, 1));
  CHECK_EQ(seen.canary, canary());
  CHECK_NE(seen.canary, 0u);
  CHECK_EQ(seen.canary & 0xff, 0u);
  std::uint64_t here;
  asm volatile("mov %%fs:0, %0" : "=r"(here));
  CHECK_NE(seen.own_address, here);
}

TEST(threads, handlers_have_a_stack_of_64_KiB_at_least_and_only_faults_get_in) {
  static Seen seen;
  REQUIRE(platform::start_thread(look_around, &seen, -1, nullptr));
  REQUIRE(test::reaches(seen.done, 1));
  CHECK_EQ(static_cast<std::uint32_t>(seen.alternate[1]), 0u);  // neither disabled nor in use
  CHECK_GE(seen.alternate[2], 64u * 1024);
  const std::uint64_t faults = 1u << 10 | 1u << 6 | 1u << 7 | 1u << 3 | 1u << 4;
  CHECK_EQ(seen.blocked & faults, 0u);
  CHECK_NE(seen.blocked & 1u << 14, 0u);  // SIGTERM is for the first thread
}

TEST(threads, a_pinned_thread_stays_on_its_cpu_and_an_unpinned_child_of_it_does_not) {
  platform::Cpus cpus;
  platform::cpus(cpus);
  const unsigned last = cpus.ids[cpus.allowed - 1];
  static Seen pinned, free;
  REQUIRE(platform::start_thread(look_around, &pinned, static_cast<int>(last), nullptr));
  REQUIRE(test::reaches(pinned.done, 1));
  for (unsigned i = 0; i < 128; ++i) REQUIRE(pinned.cpus[i] == (i == last / 64 ? std::uint64_t{1} << last % 64 : 0));
  REQUIRE(platform::start_thread(
      [](void*) {
        if (!platform::start_thread(look_around, &free, -1, nullptr)) test::bump(free.done);
        platform::exit_thread();
      },
      nullptr, static_cast<int>(last), nullptr));
  REQUIRE(test::reaches(free.done, 1));
  unsigned count = 0;
  for (std::uint64_t word : free.cpus)
    for (; word != 0; word &= word - 1) ++count;
  CHECK_EQ(count, cpus.allowed);
}

TEST(threads, cpus_are_counted_as_before_the_first_pinning) {
  static Word counted{0};
  platform::Cpus before;
  platform::cpus(before);
  REQUIRE(platform::start_thread(
      [](void*) {
        platform::Cpus inside;
        platform::cpus(inside);
        counted.store(inside.allowed);
        platform::wake(counted, 1);
        platform::exit_thread();
      },
      nullptr, before.ids[0], nullptr));
  CHECK(test::reaches(counted, before.allowed));
}

std::uint64_t mapped_kib() {
  char text[64] = {};
  const long fd = test::kernel(2, "/proc/self/statm", 0, 0);
  if (fd < 0) return 0;
  test::kernel(0, fd, text, sizeof text - 1);
  test::kernel(3, fd);
  std::uint64_t pages = 0;
  for (const char* c = text; *c >= '0' && *c <= '9'; ++c) pages = pages * 10 + static_cast<std::uint64_t>(*c - '0');
  return pages * 4;
}

TEST(threads, nothing_is_left_of_a_thousand_that_ended) {
  static Word ended{0};
  const std::uint64_t before = mapped_kib();
  for (std::uint32_t i = 0; i < 1000; ++i) {
    REQUIRE(platform::start_thread(
        [](void*) {
          test::bump(ended);
          platform::exit_thread();
        },
        nullptr, -1, nullptr));
    REQUIRE(test::reaches(ended, i + 1));
  }
  const std::uint64_t until = platform::now_ns() + 10'000'000'000;
  while (mapped_kib() > before && platform::now_ns() < until) test::kernel(24);  // sched_yield
  CHECK_LE(mapped_kib(), before);
}

}  // namespace
