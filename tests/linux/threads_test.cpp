// SPDX-License-Identifier: Apache-2.0
// threads_test.cpp — threads without a libc: what each has of its own, on which CPU it runs, and what its end leaves
// behind.
#include "arch/linux/threads/affinity.h"
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
  kernel::SignalStack alternate{};
  std::uint64_t blocked = 0;
};

std::uint64_t canary() {
  std::uint64_t value;
  asm volatile("mov %%fs:0x28, %0" : "=r"(value));
  return value;
}

void look_around(void* arg) {
  auto& seen = *static_cast<Seen*>(arg);
  test::call(kernel::kPrctl, 16, seen.name);  // PR_GET_NAME
  seen.canary = canary();
  asm volatile("mov %%fs:0, %0" : "=r"(seen.own_address));
  seen.slot = platform::worker_slot();
  test::call(kernel::kSchedGetaffinity, 0, sizeof seen.cpus, seen.cpus);
  test::call(kernel::kSigaltstack, nullptr, &seen.alternate);
  test::call(kernel::kSigprocmask, 0, nullptr, &seen.blocked, 8);
  test::bump(seen.done);
  platform::exit_thread();
}

TEST(threads, a_thread_has_its_name_and_no_worker_slot) {
  static Seen seen;
  int slot = 0;
  platform::set_worker_slot(&slot);  // the new thread must not inherit it
  char name[16] = "janus/7";
  REQUIRE(platform::start_thread(look_around, &seen, -1, name));
  name[0] = 'x';  // the caller may overwrite its copy
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
  CHECK_EQ(seen.alternate.flags, 0);  // neither disabled nor in use
  CHECK_GE(seen.alternate.bytes, 64u * 1024);
  for (const int fault : {kernel::kSigSegv, kernel::kSigBus, kernel::kSigFpe, kernel::kSigIll, kernel::kSigTrap})
    CHECK_EQ(seen.blocked & kernel::signal_bit(fault), 0u);
  CHECK_NE(seen.blocked & kernel::signal_bit(kernel::kSigTerm), 0u);  // the first thread handles it
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

TEST(threads, cpus_begin_with_the_one_that_the_caller_runs_on) {
  const test::End end = test::in_child([] {
    platform::Cpus all, again;
    platform::cpus(all);
    for (unsigned i = 0; i < all.allowed; ++i) {
      (void)platform::adopt_thread(all.ids[i], nullptr);
      platform::cpus(again);
      if (again.allowed != all.allowed || again.ids[0] != all.ids[i]) return false;
      if (all.allowed > 1 && again.ids[1] != all.ids[(i + 1) % all.allowed]) return false;
    }
    return true;
  });
  CHECK(end.exited(0));
}

std::uint64_t mapped_pages() {
  return test::first_number("/proc/self/statm");
}

TEST(threads, a_thousand_ended_threads_leave_nothing_behind) {
  static Word ended{0};
  const std::uint64_t before = mapped_pages();
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
  while (mapped_pages() > before && platform::now_ns() < until) test::call(test::kSchedYield);
  CHECK_LE(mapped_pages(), before);
}

void run_nothing(void*) {
  platform::exit_thread();
}

TEST(threads, none_starts_when_the_user_may_have_no_more_and_nothing_is_left_behind) {
  const test::End end = test::in_child([] {
    if (test::failed(test::call(test::kSetresuid, 12345, 12345, 12345)) && test::is_root()) return false;
    if (!test::limit(test::kLimitNproc, 0)) return false;
    const std::uint64_t before = mapped_pages();
    for (int i = 0; i < 100; ++i)
      if (platform::start_thread(run_nothing, nullptr, -1, "never")) return false;
    return mapped_pages() == before;
  });
  CHECK(end.exited(0));
}

TEST(threads, none_starts_without_memory_for_its_stack) {
  const test::End end = test::in_child([] {
    if (!test::limit(test::kLimitAddresses, 64 * 1024)) return false;
    return platform::map(4096 * 64) == nullptr && !platform::start_thread(run_nothing, nullptr, -1, "never");
  });
  CHECK(end.exited(0));
}

TEST(threads, an_overflow_of_a_threads_own_stack_ends_the_process_and_not_its_neighbours_memory) {
  const test::End end = test::in_child([] {
    auto deep = [](auto& self, int depth) -> int {
      volatile char frame[512];
      frame[0] = static_cast<char>(depth);
      return depth == 0 ? 0 : self(self, depth - 1) + frame[0];
    };
    static decltype(deep)* recurse;
    recurse = &deep;
    if (!platform::start_thread(
            [](void*) {
              (*recurse)(*recurse, 1'000'000);
              platform::exit_thread();
            },
            nullptr, -1, nullptr))
      return false;
    for (;;) test::call(test::kSchedYield);
  });
  CHECK(end.died_of(kernel::kSigSegv));
}

TEST(threads, an_adopted_thread_gets_its_name_its_cpu_and_a_stack_for_handlers_once) {
  const test::End end = test::in_child([] {
    platform::Cpus cpus;
    platform::cpus(cpus);
    (void)platform::adopt_thread(cpus.ids[0], "janus/0");
    kernel::SignalStack first{}, second{};
    test::call(kernel::kSigaltstack, nullptr, &first);
    (void)platform::adopt_thread(-1, nullptr);
    test::call(kernel::kSigaltstack, nullptr, &second);
    kernel::CpuMask mask{};
    test::call(kernel::kSchedGetaffinity, 0, sizeof mask, &mask);
    char name[16] = {};
    test::call(kernel::kPrctl, 16, name);  // PR_GET_NAME
    return first.bytes >= 64 * 1024 && first.base == second.base && mask.has(cpus.ids[0]) && name[6] == '0' &&
           (cpus.allowed < 2 || !mask.has(cpus.ids[1]));
  });
  CHECK(end.exited(0));
}

}  // namespace
