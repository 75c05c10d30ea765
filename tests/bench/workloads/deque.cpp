// SPDX-License-Identifier: Apache-2.0
// deque.cpp: the operations of the scheduler's deque, on one core.
#include "deque_alone.h"

namespace deque_alone {

namespace {

constexpr long kBatch = 1000;
constexpr unsigned kLog2Capacity = 11;

void push_batch(Deque& deque) {
  for (long i = 0; i < kBatch; ++i) EXPECT(deque.push(entry(i)));
}

void steal_batch(Deque& deque) {
  for (long i = 0; i < kBatch; ++i) {
    Entry stolen;
    EXPECT(deque.steal(stolen) == Deque::Steal::kTaken && stolen.runnable() == entry(i).runnable());
  }
}

void push_and_pop_batch(Deque& deque) {
  for (long i = 0; i < kBatch; ++i) {
    EXPECT(deque.push(entry(i)));
    EXPECT(deque.pop().runnable() == entry(i).runnable());
  }
}

}  // namespace
}  // namespace deque_alone

// Pushes `size` entries, a thousand at a time, and steals them. Only the steals are timed, each with its fence.
extern "C" void bench_steal(long size, int) {
  using namespace deque_alone;
  thieves_pay = false;
  Deque deque;
  EXPECT(deque.init(kLog2Capacity));
  std::uint64_t time = 0;
  long stolen = 0;
  for (; stolen < size; stolen += kBatch) {
    push_batch(deque);
    const std::uint64_t start = janus_now_ns();
    steal_batch(deque);
    time += janus_now_ns() - start;
  }
  deque.destroy();
  figure("ns", static_cast<std::int64_t>(time), stolen);
}

// `size` pairs of push and pop by the owner. The thieves pay for the fence, as in a running program.
extern "C" void bench_deque(long size, int) {
  using namespace deque_alone;
  thieves_pay = true;
  Deque deque;
  EXPECT(deque.init(kLog2Capacity));
  long pairs = 0;
  const std::uint64_t start = janus_now_ns();
  for (; pairs < size; pairs += kBatch) push_and_pop_batch(deque);
  const std::uint64_t end = janus_now_ns();
  deque.destroy();
  figure("ns", static_cast<std::int64_t>(end - start), pairs);
}
