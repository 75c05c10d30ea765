// SPDX-License-Identifier: Apache-2.0
// cpu_test.cpp — features, fences, and the words of the worker slot.
#include <arch/cpu.h>

#include <cstddef>
#include <cstdint>

#include <arch/worker_slot.h>
#include "rt/platform.h"
#include "tests/harness/test.h"

namespace {

using janus::arch::Features;

TEST(cpu, features_are_the_same_every_time) {
  CHECK_EQ(janus::arch::features().bits(), janus::arch::features().bits());
  CHECK(janus::arch::features().has(Features::kKnown));
}

TEST(cpu, avx2_is_claimed_only_where_the_instructions_work) {
  if (!janus::arch::features().has(Features::kAvx2)) SKIP("no AVX2");
  std::uint64_t sum;
  asm volatile("vpxor %%ymm0, %%ymm0, %%ymm0\n vpsubq %%ymm0, %%ymm0, %%ymm0\n vmovq %%xmm0, %0\n vzeroupper"
               : "=r"(sum)
               :
               : "xmm0");
  CHECK_EQ(sum, 0);
}

TEST(cpu, the_time_stamp_counter_goes_up) {
  const std::uint64_t before = janus::arch::rdtsc();
  for (int i = 0; i < 100; ++i) janus::arch::pause();
  CHECK_GT(janus::arch::rdtsc(), before);
}

TEST(cpu, a_full_fence_changes_no_word_around_the_stack_pointer) {
  volatile std::uint64_t words[32];
  for (std::uint64_t i = 0; i < 32; ++i) words[i] = i * i;
  janus::arch::full_fence();
  for (std::uint64_t i = 0; i < 32; ++i) CHECK_EQ(words[i], i * i);
}

// A worker slot for a test thread, which has none.
struct alignas(64) Slot {
  Slot* self;
  std::int64_t fuel;
  std::uint64_t words[6];
};

class WithSlot {
 public:
  WithSlot() : before_(janus::platform::worker_slot()) { janus::platform::set_worker_slot(&slot); }
  ~WithSlot() { janus::platform::set_worker_slot(before_); }
  Slot slot{&slot, 100, {11, 22, 33, 44, 55, 66}};

 private:
  void* before_;
};

TEST(worker_slot, its_first_word_leads_to_it) {
  WithSlot with;
  CHECK(janus::arch::slot_self() == &with.slot);
}

TEST(worker_slot, words_are_read_and_written_at_their_offsets) {
  WithSlot with;
  CHECK_EQ(janus::arch::slot_load<offsetof(Slot, words)>(), 11);
  CHECK_EQ(janus::arch::slot_load<offsetof(Slot, words) + 40>(), 66);
  janus::arch::slot_store<offsetof(Slot, words) + 8>(99);
  CHECK_EQ(with.slot.words[1], 99);
  CHECK_EQ(with.slot.words[0] + with.slot.words[2], 44);
}

TEST(worker_slot, fuel_that_runs_out_is_told) {
  WithSlot with;
  CHECK(!janus::arch::slot_sub_is_negative<offsetof(Slot, fuel)>(100));
  CHECK_EQ(with.slot.fuel, 0);
  CHECK(janus::arch::slot_sub_is_negative<offsetof(Slot, fuel)>(1));
  CHECK_EQ(with.slot.fuel, -1);
}

TEST(worker_slot, every_access_reads_again) {
  WithSlot with;
  const std::uint64_t first = janus::arch::slot_load<offsetof(Slot, words)>();
  Slot other = with.slot;
  other.self = &other;
  other.words[0] = first + 1;
  janus::platform::set_worker_slot(&other);  // as when the task continues on another worker
  CHECK_EQ(janus::arch::slot_load<offsetof(Slot, words)>(), first + 1);
  CHECK(janus::arch::slot_self() == &other);
}

TEST(worker_slot, the_stack_pointer_lies_just_below_our_locals) {
  volatile std::byte local[64];
  local[0] = std::byte{0};
  const std::uint64_t distance = reinterpret_cast<std::uint64_t>(&local) - janus::arch::stack_pointer();
  CHECK_LT(distance, 4096);
}

}  // namespace
