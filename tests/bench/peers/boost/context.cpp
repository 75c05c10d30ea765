// SPDX-License-Identifier: Apache-2.0
// Boost.Context: two fibers, by its C++ fiber API. Each switch is one resume().
#include <boost/context/fiber.hpp>

#include "../measure.h"

namespace {

using boost::context::fiber;

void switch_there_and_back(long switches, int) {
  pin(0, 1);
  const long warm_up = switches / 10, rounds = (switches + 1) / 2;
  long resumed = 0;
  fiber other([&resumed](fiber&& back) {
    for (;;) {
      ++resumed;
      back = std::move(back).resume();
    }
    return std::move(back);
  });
  for (long i = 0; i < warm_up; ++i) other = std::move(other).resume();
  resumed = 0;
  const auto start = now_ns();
  for (long i = 0; i < rounds; ++i) other = std::move(other).resume();
  const auto spent = now_ns() - start;
  if (resumed != rounds) fail("%ld resumptions instead of %ld", resumed, rounds);
  figure("ns", static_cast<double>(spent) / (2.0 * static_cast<double>(rounds)));
}

const workload kWorkloads[] = {{"switch", switch_there_and_back}, {nullptr, nullptr}};

}  // namespace

int main(int argc, char** argv) {
  return run_workload(kWorkloads, argc, argv);
}
