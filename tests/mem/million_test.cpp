// SPDX-License-Identifier: Apache-2.0
// million_test.cpp — a million stacks at once, measured by the kernel's own counts. One build suffices, since nearly
// all the time is the kernel's (one page fault for each stack).
#include "rt/mem/stack_pool.h"
#include "tests/harness/test.h"
#include "tests/mem/kernel_counts.h"

using namespace janus;
using namespace janus::kernel_counts;

TEST(kernel, a_million_guarded_stacks_are_a_page_each_in_fewer_than_a_thousand_mappings) {
  constexpr std::uint64_t kMillion = 1'000'000;
  if (platform::memory_limit() < std::uint64_t{10} << 30) SKIP("less than 10 GiB of memory");
  StackPool pool;
  StackCache cache{};
  REQUIRE(pool.init());
  const std::size_t mappings_before = mappings(), resident_before = resident_bytes();
  if (mappings_before == 0 || resident_before == 0) SKIP("no /proc");
  Stack* chain = nullptr;
  for (std::uint64_t n = 0; n < kMillion; n++) {
    Stack* stack = pool.take(&cache, 0);
    REQUIRE(stack != nullptr);
    stack->start[-512] = std::byte{1};
    stack->next = chain;
    chain = stack;
  }
  const std::size_t bytes = (resident_bytes() - resident_before) / kMillion, more = mappings() - mappings_before;
  test::note("resident bytes a stack", bytes);
  test::note("mappings", more);
  test::note("guards", pool.guard_pages());
  if (chain->guard == platform::Guard::kInstalled) {
    CHECK_GE(pool.guard_pages(), kMillion);
    CHECK_LE(bytes, 4096u + 16u);
    CHECK_LT(more, 1000u);
  }
  while (chain != nullptr) {
    Stack* stack = chain;
    chain = stack->next;
    pool.give(&cache, stack);
  }
  CHECK_GE(resident_bytes() - resident_before, kMillion * 4096);  // the pool keeps them for reuse
  CHECK(pool.has_excess());
  pool.give_excess();
  CHECK(pool.has_excess());
  CHECK_GE(resident_bytes() - resident_before, kMillion * 4096);  // they were in use in the period that ends
  pool.give_excess();
  CHECK(!pool.has_excess());
  CHECK_LE(resident_bytes() - resident_before, std::size_t{64} << 20);  // no task used them in the second period
  pool.flush(cache);
  pool.destroy();
  CHECK_LE(mappings(), mappings_before + 2);
}
