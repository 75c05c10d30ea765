// SPDX-License-Identifier: Apache-2.0
// count_deque.cpp: the operations of the deque, with thieves paying for the fence, as in what ships.
#include "../workloads/deque_alone.h"
#include "count.h"

namespace deque_alone {

namespace {

Deque deque;

void push_some(long count) {
  for (long i = 0; i < count; ++i)
    if (!deque.push(entry(i))) abort();
}

// Room for all entries, so that the deque does not grow between the marks; one entry stays at the bottom.
void fill(long count) {
  EXPECT(deque.init(13) && count < 8192);
  push_some(count);
}

}  // namespace
}  // namespace deque_alone

using namespace deque_alone;

extern "C" void count_push(long count) {
  fill(1);
  MARK();
  push_some(count);
  MARK();
}

extern "C" void count_pop(long count) {
  fill(count + 1);
  MARK();
  for (long i = 0; i < count; ++i)
    if (!deque.pop()) abort();
  MARK();
}

extern "C" void count_steal(long count) {
  fill(count + 1);
  Entry stolen;
  MARK();
  for (long i = 0; i < count; ++i)
    if (deque.steal(stolen) != Deque::Steal::kTaken) abort();
  MARK();
}
