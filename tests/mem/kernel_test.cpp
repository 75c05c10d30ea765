// SPDX-License-Identifier: Apache-2.0
// kernel_test.cpp — what only the real kernel can show: that guard pages fault, how many pages a stack has, how many
// mappings many stacks need, and that the heap gives its pages back.
#include <arch/task_call.h>
#include "rt/mem/heap.h"
#include "rt/mem/stack_limit.h"
#include "rt/mem/stack_pool.h"
#include "tests/harness/test.h"
#include "tests/mem/kernel_counts.h"

using namespace janus;
using namespace janus::kernel_counts;

namespace {

constexpr long kMincore = 27;

std::size_t resident_pages_of(const Stack* stack) {
  std::byte* base = stack->limit - stack_guard_bytes(stack->size_class);
  const std::size_t bytes = stack_stride(stack->size_class, fixed_extent(stack->size_class));
  static unsigned char present[kMaxStackBytes / kPageBytes + 64];
  if (call(kMincore, reinterpret_cast<long>(base), static_cast<long>(bytes), reinterpret_cast<long>(present)) != 0)
    return ~std::size_t{0};
  std::size_t pages = 0;
  for (std::size_t n = 0; n < bytes / kPageBytes; n++) pages += present[n] & 1u;
  return pages;
}

// --- Touching what may fault -----------------------------------------------------------------------------------------

std::uint64_t g_frame;
std::uint64_t g_fault_address;
alignas(16) std::byte g_landing[8192];

[[noreturn]] void land(std::uint64_t) {
  janus_task_abandon(g_frame, 1);
}

bool catch_fault(platform::Fault& fault) {
  g_fault_address = fault.address;
  fault.resume_ip = reinterpret_cast<std::uint64_t>(&land);
  fault.resume_sp = reinterpret_cast<std::uint64_t>(g_landing + sizeof g_landing) - 8;
  fault.resume_arg = 0;
  return true;
}

bool faults(std::byte* at) {
  static std::uint64_t slot[8];  // the fault handler is called for workers' faults only
  (void)platform::adopt_thread(-1, nullptr);
  platform::set_worker_slot(slot);
  (void)platform::on_fault(catch_fault);
  const auto touch = [](void* arg) -> std::int64_t {
    *static_cast<volatile std::byte*>(arg) = std::byte{1};
    return 0;
  };
  const bool faulted = janus_task_call(touch, at, &g_frame) == 1;
  platform::remove_fault_handler();
  platform::set_worker_slot(nullptr);
  return faulted && g_fault_address == address_of(at);
}

}  // namespace

TEST(kernel, the_whole_guard_of_every_class_faults_and_nothing_else) {
  StackPool pool;
  REQUIRE(pool.init());
  for (unsigned c = 0; c < kStackClasses; c++) {
    Stack* stack = pool.take(nullptr, c);
    REQUIRE(stack != nullptr);
    if (stack->guard == platform::Guard::kNone) SKIP("this kernel gives no guards");
    std::byte* guard = stack->limit - stack_guard_bytes(c);
    for (std::byte* at : {guard, guard + stack_guard_bytes(c) / 2, stack->limit - 1}) {
      CHECK(faults(at));
      CHECK_EQ(pool.containing(at), stack);
      CHECK(pool.in_guard(stack, at));
    }
    CHECK(!faults(stack->limit));
    CHECK(!faults(stack->start - 1));
    pool.give(nullptr, stack);
  }
  pool.destroy();
}

TEST(kernel, a_guard_survives_the_unmapping_of_its_stack) {
  StackPool pool;
  REQUIRE(pool.init());
  Stack* stack = pool.take(nullptr, 0);
  REQUIRE(stack != nullptr);
  if (stack->guard == platform::Guard::kNone) SKIP("this kernel gives no guards");
  *stack->limit = std::byte{1};
  pool.give(nullptr, stack);
  pool.trim();
  Stack* again = pool.take(nullptr, 0);
  CHECK_EQ(again, stack);
  CHECK_EQ(resident_pages_of(again), 1u);
  CHECK(faults(again->limit - 1));
  CHECK(!faults(again->limit));
  pool.give(nullptr, again);
  pool.destroy();
}

TEST(kernel, a_shallow_stack_has_one_page) {
  StackPool pool;
  StackCache cache{};
  REQUIRE(pool.init());
  for (unsigned c = 0; c < kStackClasses; c++)
    for (unsigned n = 0; n < 2 * kStackColours; n++) {
      Stack* stack = pool.take(&cache, c);
      REQUIRE(stack != nullptr);
      if (stack->guard == platform::Guard::kNone) SKIP("a canary lies in a page of its own");
      // the frames of a shallow task
      for (std::byte* at = stack->start - 1024; at < stack->start; at++) *at = std::byte{1};
      CHECK_EQ(resident_pages_of(stack), 1u);
    }
  pool.destroy();
}

// --- Stacks that grow ------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t kMax = 256 << 10;

// Makes a pool of growing stacks. Where stacks do not grow, skips the test and returns false.
bool start_growing(StackPool& pool) {
  if (!CHECK(pool.init())) return false;
  const bool grows = pool.let_grow(kMax);
  if (!grows) test::skip("this kernel's guards do not move");
  return grows;
}

std::byte* top_of(const Stack* stack) {
  return reinterpret_cast<std::byte*>(address_of(stack->start) / kPageBytes * kPageBytes);
}

// Checks that the stack is usable down to `limit` and no further, and that its lowest page is a guard.
void check_usable_down_to(StackPool& pool, const Stack* stack, std::byte* limit) {
  CHECK_EQ(stack->limit, limit);
  std::byte* const lowest = pool.lowest_of(stack);
  for (std::byte* at : {limit, limit + (top_of(stack) - limit) / 2, stack->start - 1}) CHECK(!faults(at));
  for (std::byte* at : {limit - 1, limit - kPageBytes, lowest - 1, lowest - kPageBytes}) {
    CHECK(faults(at));
    CHECK(pool.in_guard(stack, at));
    CHECK_EQ(pool.containing(at), stack);
  }
  CHECK(!pool.in_guard(stack, limit));
}

}  // namespace

TEST(kernel, a_stack_that_grows_begins_small_and_has_a_guard_wherever_it_ends) {
  StackPool pool;
  if (!start_growing(pool)) return;
  for (unsigned c = 0; c < kStackClasses; c++) {
    Stack* stack = pool.take(nullptr, c);
    REQUIRE(stack != nullptr);
    const StackExtent extent = growing_extent(c, kMax);
    std::byte* const initial = stack->limit;
    CHECK_EQ(static_cast<std::size_t>(top_of(stack) - initial), extent.initial);
    CHECK_EQ(static_cast<std::size_t>(top_of(stack) - pool.lowest_of(stack)), extent.most);
    check_usable_down_to(pool, stack, initial);
    initial[8] = std::byte{42};
    for (std::size_t bytes = extent.initial * 2; bytes < extent.most; bytes *= 2) {
      REQUIRE(extend_stack(stack, top_of(stack) - bytes));
      check_usable_down_to(pool, stack, top_of(stack) - bytes);
    }
    REQUIRE(stack->limit == pool.lowest_of(stack) || extend_stack(stack, pool.lowest_of(stack)));
    check_usable_down_to(pool, stack, top_of(stack) - extent.most);
    CHECK_EQ(initial[8], std::byte{42});
    retract_stack(stack, initial);
    check_usable_down_to(pool, stack, initial);
    CHECK_EQ(initial[8], std::byte{42});
    pool.give(nullptr, stack);
  }
  CHECK_EQ(pool.stacks_in_use(), 0u);
  pool.destroy();
}

TEST(kernel, growth_is_given_back_and_forgotten) {
  StackPool pool;
  if (!start_growing(pool)) return;
  Stack* stack = pool.take(nullptr, 0);
  REQUIRE(stack != nullptr);
  std::byte* const initial = stack->limit;
  const std::size_t before = resident_bytes();
  for (int round = 0; round < 3; round++) {
    REQUIRE(extend_stack(stack, pool.lowest_of(stack)));
    for (std::byte* at = stack->limit; at < initial; at += kPageBytes) {
      CHECK_EQ(*at, std::byte{0});
      *at = std::byte{9};
    }
    retract_stack(stack, initial);
  }
  if (before != 0) CHECK_LE(resident_bytes(), before + 8 * kPageBytes);
  pool.give(nullptr, stack);
  pool.destroy();
}

// A large frame may skip pages without touching them. So all pages of the reserve must fault until the stack has grown
// over them, and again after it has shrunk.
TEST(kernel, the_reserve_of_a_stack_is_no_memory_before_it_grows) {
  StackPool pool;
  if (!start_growing(pool)) return;
  Stack* stack = pool.take(nullptr, 0);
  REQUIRE(stack != nullptr);
  std::byte* const initial = stack->limit;
  for (int round = 0; round < 2; round++) {
    for (std::byte* at = pool.lowest_of(stack); at < initial; at += kPageBytes) CHECK(faults(at));
    REQUIRE(extend_stack(stack, top_of(stack) - (32 << 10)));
    for (std::byte* at = pool.lowest_of(stack); at < stack->limit; at += kPageBytes) CHECK(faults(at));
    CHECK(!faults(stack->limit));
    retract_stack(stack, initial);
  }
  pool.give(nullptr, stack);
  pool.destroy();
}

TEST(kernel, guards_of_growing_stacks_survive_unmapping_and_neighbours) {
  constexpr unsigned kCount = 200;  // more than three banks of guards
  static Stack* stacks[kCount];
  StackPool pool;
  if (!start_growing(pool)) return;
  for (int round = 0; round < 2; round++) {
    for (Stack*& stack : stacks) {
      stack = pool.take(nullptr, 0);
      REQUIRE(stack != nullptr);
      CHECK_EQ(static_cast<std::size_t>(top_of(stack) - stack->limit), kMinStackBytes);
    }
    for (unsigned n = 0; n < kCount; n += 2) REQUIRE(extend_stack(stacks[n], top_of(stacks[n]) - (64 << 10)));
    for (unsigned n = 0; n < kCount; n += 7) check_usable_down_to(pool, stacks[n], stacks[n]->limit);
    for (unsigned n = 0; n < kCount; n += 2) retract_stack(stacks[n], top_of(stacks[n]) - kMinStackBytes);
    for (unsigned n = 1; n < kCount; n += 7) check_usable_down_to(pool, stacks[n], stacks[n]->limit);
    for (Stack* stack : stacks) pool.give(nullptr, stack);
    pool.trim();
  }
  pool.destroy();
}

TEST(kernel, a_hundred_thousand_stacks_that_may_grow_are_a_page_each_in_few_mappings) {
  constexpr std::size_t kCount = 100'000;
  if (platform::memory_limit() < std::uint64_t{2} << 30) SKIP("less than 2 GiB of memory");
  StackPool pool;
  StackCache cache{};
  if (!start_growing(pool)) return;
  const std::size_t mappings_before = mappings(), resident_before = resident_bytes();
  if (mappings_before == 0 || resident_before == 0) SKIP("no /proc");
  for (std::size_t n = 0; n < kCount; n++) {
    Stack* stack = pool.take(&cache, 0);
    REQUIRE(stack != nullptr);
    stack->start[-512] = std::byte{1};
  }
  CHECK_LE((resident_bytes() - resident_before) / kCount, 4096u + 64u);
  CHECK_LT(mappings() - mappings_before, 100u);
  pool.flush(cache);
  pool.destroy();
}

TEST(kernel, the_heap_gives_its_pages_back_and_leaves_no_mapping) {
  const std::size_t mappings_before = mappings(), resident_before = resident_bytes();
  if (mappings_before == 0) SKIP("no /proc");
  Heap heap;
  HeapCache cache{};
  REQUIRE(heap.init());
  constexpr unsigned kCount = 60000;
  static void* blocks[kCount];
  for (void*& block : blocks) {
    block = heap.allocate(&cache, 1000, 16, 1);
    REQUIRE(block != nullptr);
    *static_cast<char*>(block) = 1;
  }
  CHECK_GE(resident_bytes() - resident_before, std::size_t{50} << 20);
  for (void* block : blocks) heap.free(&cache, block);
  CHECK_LE(resident_bytes() - resident_before, std::size_t{8} << 20);
  heap.flush(cache);
  heap.destroy();
  CHECK_LE(mappings(), mappings_before);
}

// --- Which chunks a search reads -------------------------------------------------------------------------------------

namespace {

// Makes the headers of all chunks but the last unreadable: a search that looks at one of them faults.
class Unreadable {
 public:
  Unreadable(PageHeap& heap, std::size_t chunks) : heap_(heap), chunks_(chunks) { protect(kNone); }
  ~Unreadable() { protect(kReadWrite); }
  Unreadable(const Unreadable&) = delete;
  Unreadable& operator=(const Unreadable&) = delete;

 private:
  static constexpr long kMprotect = 10, kNone = 0, kReadWrite = 3;
  void protect(long access) {
    for (std::size_t n = 0; n + 1 < chunks_; n++)
      CHECK_EQ(call(kMprotect, reinterpret_cast<long>(heap_.chunk_at(n)), kPageBytes, access), 0);
  }
  PageHeap& heap_;
  std::size_t chunks_;
};

// Takes runs until there are at least `least` chunks and all but the last are full. Returns the number of chunks;
// `last` is the last run, in the last chunk.
std::size_t fill(PageHeap& heap, std::size_t least, unsigned pages, unsigned align, Span*& last) {
  while (heap.chunk_at(least - 1) == nullptr) last = heap.take_run(pages, align);
  std::size_t chunks = least;
  while (heap.chunk_at(chunks) != nullptr) chunks++;
  while (chunk_of(last) != heap.chunk_at(chunks - 1)) last = heap.take_run(pages, align);
  return chunks;
}

}  // namespace

// No chunk but the last has a free aligned place.
TEST(kernel, a_search_for_an_aligned_run_visits_only_chunks_that_can_have_it) {
  PageHeap heap;
  REQUIRE(heap.init());
  Span* last = nullptr;
  const std::size_t chunks = fill(heap, 40, 1, kMaxRunPages, last);
  {
    const Unreadable full(heap, chunks);
    heap.give_run(last);
    CHECK_EQ(heap.take_run(1, kMaxRunPages), last);
  }
  CHECK_EQ(heap.chunk_at(chunks), nullptr);
  heap.destroy();
}

// Each of the other chunks has free pages, some of them used before, but no hole that is large enough.
TEST(kernel, a_large_run_is_taken_and_given_back_at_one_of_a_thousand_chunks) {
  constexpr unsigned kPages = 100;
  PageHeap heap;
  REQUIRE(heap.init());
  Span* last = nullptr;
  const std::size_t chunks = fill(heap, 1000, kPages, 1, last);
  for (std::size_t n = 0; n + 1 < chunks; n++)
    CHECK(heap.resize_run(&heap.chunk_at(n)->spans[kHeaderPages], kPages - 2));
  {
    const Unreadable others(heap, chunks);
    for (unsigned round = 0; round < 8; round++) {
      Span* const another = heap.take_run(kPages, 1);
      heap.give_run(last);
      last = another;
    }
  }
  CHECK_EQ(heap.chunk_at(chunks), nullptr);
  CHECK_EQ(heap.idle_dirty_bytes(), ((chunks - 1) * 2 + kPages) * kPageBytes);
  heap.destroy();
}
