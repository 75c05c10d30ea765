// SPDX-License-Identifier: Apache-2.0
// tests/sched/queue_model.h — what the models of the deque and the queue share: an owner that goes through a short
// program of letters, thieves, and that each entry is taken once or still there.
#pragma once

#include "tests/harness/interleavings.h"
#include "tests/harness/test.h"

namespace janus::test {

// `found[n]`: how often entry n was taken, or, once all are done, is there. Entries count from 1; 0 is a place that
// nobody has written.
template <int Most>
bool each_once(const std::int8_t (&found)[Most + 1], int pushed, bool all_done) {
  bool good = found[0] == 0;
  for (int entry = 1; entry <= Most; ++entry) {
    const int wanted = entry <= pushed ? 1 : 0;
    good &= found[entry] <= wanted && (!all_done || found[entry] == wanted);
  }
  return good;
}

template <class Protocol, class Mistake>
bool goes_well(const char* program, unsigned thieves, int steals, Mistake mistake) {
  Interleavings<Protocol> all(Protocol{program, steals, thieves, mistake});
  const bool good = all.all_good();
  note(program, all.states());
  return good;
}

// Whether some program shows it.
template <class Protocol, class Mistake, std::size_t Count>
bool is_found(const char* const (&programs)[Count], Mistake mistake) {
  for (const char* program : programs)
    if (!goes_well<Protocol>(program, 1, 2, mistake)) return true;
  return false;
}

}  // namespace janus::test
