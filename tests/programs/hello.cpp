// SPDX-License-Identifier: Apache-2.0
// hello [N]: N tasks send greetings through a channel, and one task counts them.
#include <janus/rt.hpp>

#include "size.h"

namespace {

struct Greeting {
  std::uint64_t from;
  long number;
};

long count(const janus::Channel<Greeting>& greetings) {
  long received = 0;
  for (const Greeting& greeting : greetings) {
    janus_print(1, "hello number %ld\n", greeting.number);
    received += greeting.from != 0;
  }
  return received;
}

}  // namespace

int main(int argc, char** argv) {
  const long n = size_argument(argc, argv, 3, 1000000);
  const janus::Channel<Greeting> greetings(4);
  janus::Nursery readers;
  auto received = readers.spawn([greetings] { return count(greetings); });
  {
    janus::Nursery writers;
    for (long i = 0; i < n; ++i) writers.spawn([greetings, i] { return greetings.send({janus_task_id(), i}); });
    if (!writers.await() || !greetings.close()) return 1;
  }
  return received.join().value_or(-1) == n ? 0 : 1;
}
