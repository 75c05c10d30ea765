// SPDX-License-Identifier: Apache-2.0
// fake_platform_test.cpp — what the fake platform promises to the tests that use it.
#include "tests/fake_platform/fake_platform.h"

#include "tests/harness/test.h"

namespace {

using namespace janus;
constexpr std::size_t kPage = 4096;

TEST(fake_platform, map_is_refused_on_the_named_call_only) {
  fake_platform::reset();
  fake_platform::refuse_maps(2, 1);
  std::byte* first = platform::map(kPage);
  CHECK(first != nullptr);
  CHECK(platform::map(kPage) == nullptr);
  std::byte* third = platform::map(kPage);
  CHECK(third != nullptr);
  CHECK_EQ(fake_platform::maps(), 2);
  CHECK_EQ(fake_platform::mapped_bytes(), 2 * kPage);
  platform::unmap(first, kPage);
  platform::unmap(third, kPage);
  CHECK_EQ(fake_platform::mapped_bytes(), 0);
}

TEST(fake_platform, map_respects_the_limit_of_live_bytes) {
  fake_platform::reset();
  fake_platform::limit_mapped_bytes(2 * kPage);
  CHECK(platform::map(3 * kPage) == nullptr);
  std::byte* pages = platform::map(2 * kPage);
  REQUIRE(pages != nullptr);
  CHECK(platform::map(kPage) == nullptr);
  platform::unmap(pages, 2 * kPage);
  pages = platform::map(kPage);
  CHECK(pages != nullptr);
  platform::unmap(pages, kPage);
}

TEST(fake_platform, an_unmap_of_what_was_not_mapped_is_noticed) {
  fake_platform::reset();
  std::byte* pages = platform::map(4 * kPage);
  REQUIRE(pages != nullptr);
  platform::unmap(pages + kPage, kPage);  // leaves a hole
  CHECK_EQ(fake_platform::mapped_pieces(), 2);
  CHECK_EQ(fake_platform::mapped_bytes(), 3 * kPage);
  CHECK_EQ(fake_platform::stray_unmaps(), 0);
  platform::unmap(pages + kPage, kPage);
  CHECK_EQ(fake_platform::stray_unmaps(), 1);
  platform::unmap(pages, kPage);
  platform::unmap(pages + 2 * kPage, 2 * kPage);
  CHECK_EQ(fake_platform::mapped_pieces(), 0);
  CHECK_EQ(fake_platform::stray_unmaps(), 1);
}

TEST(fake_platform, guards_run_out_where_the_test_says) {
  fake_platform::reset();
  fake_platform::limit_guards(3, platform::Guard::kInstalled);
  std::byte* pages = platform::map(16 * kPage);
  REQUIRE(pages != nullptr);
  std::size_t guarded = 9;
  CHECK_EQ(platform::guard(pages, 2 * kPage, 2, kPage, guarded), platform::Guard::kInstalled);
  CHECK_EQ(guarded, 2);
  CHECK_EQ(platform::guard(pages + 4 * kPage, 2 * kPage, 2, kPage, guarded), platform::Guard::kInstalled);
  CHECK_EQ(guarded, 1);
  CHECK_EQ(platform::guard(pages + 8 * kPage, 2 * kPage, 2, kPage, guarded), platform::Guard::kNone);
  CHECK_EQ(guarded, 0);
  pages[8 * kPage] = std::byte{1};  // must not fault
  platform::unmap(pages, 16 * kPage);
}

void leave_at_once(void*) {
  platform::exit_thread();
}

TEST(fake_platform, threads_are_refused_from_the_named_call_on) {
  fake_platform::reset();
  fake_platform::refuse_threads(2);
  CHECK(platform::start_thread(leave_at_once, nullptr, -1, "one"));
  CHECK(!platform::start_thread(leave_at_once, nullptr, -1, "two"));
  CHECK(!platform::start_thread(leave_at_once, nullptr, -1, "three"));
  CHECK_EQ(fake_platform::threads_started(), 1);
}

TEST(fake_platform, a_wait_with_an_end_moves_the_clock_there) {
  fake_platform::reset();
  std::atomic<std::uint32_t> word{5};
  const std::uint64_t before = platform::now_ns();
  platform::wait(word, 4, before + 100);  // `word` differs from `seen` already
  CHECK_EQ(platform::now_ns(), before);
  CHECK_EQ(fake_platform::waits(), 0);
  platform::wait(word, 5, before + 100);
  CHECK_EQ(platform::now_ns(), before + 100);
  CHECK_EQ(fake_platform::waits(), 1);
  platform::wait(word, 5, before);  // a deadline in the past: the clock never goes back
  CHECK_EQ(platform::now_ns(), before + 100);
}

TEST(fake_platform, a_thread_that_is_preempted_or_blocks_does_not_run) {
  fake_platform::reset();
  const std::uint64_t now = platform::now_ns(), ran = platform::thread_ns();
  fake_platform::advance_ns(100);
  fake_platform::block_ns(400);
  CHECK_EQ(platform::preemptions(), 0);
  fake_platform::preempt_ns(600);
  CHECK_EQ(platform::preemptions(), 1);
  CHECK_EQ(platform::now_ns() - now, 1100);
  CHECK_EQ(platform::thread_ns() - ran, 100);
  fake_platform::hide_thread_ns();
  CHECK_EQ(platform::thread_ns(), 0);
}

TEST(fake_platform, entropy_is_a_fixed_sequence_or_fails) {
  fake_platform::reset();
  std::uint64_t first = 0, again = 0, next = 0;
  CHECK(platform::entropy(&first, sizeof first));
  CHECK(platform::entropy(&next, sizeof next));
  CHECK_NE(first, next);
  fake_platform::reset();
  CHECK(platform::entropy(&again, sizeof again));
  CHECK_EQ(first, again);
  fake_platform::refuse_entropy();
  CHECK(!platform::entropy(&again, sizeof again));
}

TEST(fake_platform, the_machine_has_the_cpus_and_memory_of_the_script) {
  fake_platform::reset();
  fake_platform::set_cpus(300, 2, true);
  fake_platform::set_memory_limit(1 << 20);
  static platform::Cpus cpus;
  platform::cpus(cpus);
  CHECK_EQ(cpus.allowed, 300);
  CHECK_EQ(cpus.quota, 2);
  CHECK(cpus.fractional);
  CHECK_EQ(platform::memory_limit(), 1 << 20);
}

}  // namespace
