// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/stack_pool.h"

#include "tests/harness/test.h"

using namespace janus;

namespace {

struct Fixture {
  StackPool pool;
  StackCache one{}, two{};
  Fixture() { CHECK(pool.init()); }
  ~Fixture() {
    pool.flush(one);
    pool.flush(two);
    CHECK_EQ(pool.stacks_in_use(), 0u);
    pool.destroy();
    CHECK_EQ(pool.mappings(), 0u);
    CHECK_EQ(pool.bytes_mapped(), 0u);
  }
};

}  // namespace

TEST(stack_pool, size_classes_round_up) {
  CHECK_EQ(stack_class_for(0), 0u);
  CHECK_EQ(stack_class_for(8192), 0u);
  CHECK_EQ(stack_class_for(8193), 1u);
  CHECK_EQ(stack_class_for(65536), 3u);
  CHECK_EQ(stack_class_for(1 << 20), 7u);
  CHECK_EQ(stack_class_for((1 << 20) + 1), 8u);
  CHECK_EQ(stack_class_for(64 << 20), 13u);
  CHECK_EQ(stack_class_for((64 << 20) + 1), kStackClasses);
  CHECK_EQ(stack_class_for(~std::size_t{0}), kStackClasses);
}

TEST(stack_pool, a_stack_has_its_class_below_the_base_frame) {
  Fixture f;
  for (unsigned c = 0; c < kStackClasses; c++) {
    Stack* stack = f.pool.take(&f.one, c);
    REQUIRE(stack != nullptr);
    CHECK_EQ(stack->size_class, c);
    CHECK_EQ(address_of(stack->start) % 16, 0u);
    CHECK_EQ(address_of(stack->limit) % kPageBytes, 0u);
    CHECK_GE(stack->start - stack->limit, stack_class_bytes(c) + 1024);
    // The stack's record, its coloured offset and the first KiB of frames share one page.
    CHECK_EQ(address_of(stack) / kPageBytes, (address_of(stack->start) - 1024) / kPageBytes);
    for (std::byte* at = stack->limit; at < stack->start; at += 512) *at = std::byte{1};
    f.pool.give(&f.one, stack);
  }
  CHECK_EQ(f.pool.stacks_in_use(), 0u);
}

TEST(stack_pool, hands_out_the_stack_that_was_given_last) {
  Fixture f;
  Stack* a = f.pool.take(&f.one, 0);
  Stack* b = f.pool.take(&f.one, 0);
  CHECK_NE(a, b);
  f.pool.give(&f.one, a);
  f.pool.give(&f.one, b);
  CHECK_EQ(f.pool.take(&f.one, 0), b);
  CHECK_EQ(f.pool.take(&f.one, 0), a);
  CHECK_EQ(f.pool.stacks_in_use(), 2u);
  f.pool.give(&f.one, a);
  f.pool.give(&f.one, b);
}

TEST(stack_pool, neighbours_differ_in_colour) {
  Fixture f;
  Stack* stacks[kStackColours];
  std::uint64_t colours = 0;
  for (Stack*& stack : stacks) {
    stack = f.pool.take(&f.one, 0);
    colours |= std::uint64_t{1} << address_of(stack->start) % kPageBytes / 64;
  }
  unsigned different = 0;
  for (; colours != 0; colours &= colours - 1) different++;
  CHECK_GE(different, 20u);
  for (Stack* stack : stacks) f.pool.give(&f.one, stack);
}

TEST(stack_pool, an_address_leads_to_its_stack_and_to_no_other) {
  Fixture f;
  int local = 0;
  CHECK_EQ(f.pool.containing(&local), nullptr);
  for (unsigned c = 0; c < kStackClasses; c++) {
    Stack* stack = f.pool.take(&f.one, c);
    std::byte* guard = stack->limit - stack_guard_bytes(c);
    for (std::byte* at : {stack->limit, stack->start - 1, reinterpret_cast<std::byte*>(stack), guard, stack->limit - 1})
      CHECK_EQ(f.pool.containing(at), stack);
    CHECK_NE(f.pool.containing(guard - 1), stack);
    CHECK(f.pool.in_guard(stack, guard));
    CHECK(f.pool.in_guard(stack, stack->limit - 1));
    CHECK(!f.pool.in_guard(stack, stack->limit));
    CHECK(!f.pool.in_guard(stack, guard - 1));
    CHECK_EQ(f.pool.in_guard(stack, stack->limit - 65536), stack_class_bytes(c) >= 65536);
    f.pool.give(&f.two, stack);
  }
  CHECK_EQ(f.pool.containing(nullptr), nullptr);
  CHECK_EQ(f.pool.containing(reinterpret_cast<void*>(~std::uintptr_t{0})), nullptr);
}

TEST(stack_pool, stacks_that_another_worker_gives_come_back_round) {
  Fixture f;
  constexpr unsigned kCount = 1000;
  static Stack* stacks[kCount];
  std::size_t mapped = 0;
  for (unsigned round = 0; round < 10; round++) {
    for (unsigned n = 0; n < kCount; n++) {
      stacks[n] = f.pool.take(n % 31 == 0 ? nullptr : &f.one, 0);
      REQUIRE(stacks[n] != nullptr);
      stacks[n]->start[-8] = std::byte{1};
    }
    CHECK_EQ(f.pool.stacks_in_use(), kCount);
    for (unsigned n = 0; n < kCount; n++) f.pool.give(n % 29 == 0 ? nullptr : &f.two, stacks[n]);
    CHECK_EQ(f.pool.stacks_in_use(), 0u);
    if (round == 1) mapped = f.pool.bytes_mapped();
  }
  CHECK_EQ(f.pool.bytes_mapped(), mapped);
}

TEST(stack_pool, an_unmapped_stack_is_announced_and_rebuilt_before_its_reuse) {
  Fixture f;
  static unsigned announced;
  announced = 0;
  f.pool.on_cold([](Stack* stack) { announced += stack->fiber == stack; });
  constexpr unsigned kCount = 5000;
  static Stack* stacks[kCount];
  for (unsigned n = 0; n < kCount; n++) {
    stacks[n] = f.pool.take(&f.one, 0);
    REQUIRE(stacks[n] != nullptr);
    stacks[n]->fiber = stacks[n];
    stacks[n]->limit[100] = std::byte{7};
  }
  for (unsigned n = 0; n < kCount; n++) f.pool.give(&f.one, stacks[n * 7919u % kCount]);
  f.pool.flush(f.one);
  f.pool.trim();
  CHECK_EQ(announced, kCount);
  CHECK_EQ(f.pool.stacks_cached(), 0u);
  unsigned wrong = 0;
  for (unsigned n = 0; n < kCount; n++) {
    stacks[n] = f.pool.take(&f.one, 0);
    wrong += stacks[n]->fiber != nullptr || stacks[n]->limit[100] != std::byte{0} ||
             f.pool.containing(stacks[n]->limit) != stacks[n];
  }
  CHECK_EQ(wrong, 0u);
  f.pool.on_cold(nullptr);
  for (unsigned n = 0; n < kCount; n++) f.pool.give(&f.one, stacks[n]);
}
