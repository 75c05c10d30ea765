// SPDX-License-Identifier: Apache-2.0
// REFUSED: takes an element
#include <janus/rt.hpp>
void test(int (&numbers)[3]) {
  (void)janus::parallel_for(numbers, [] {});
}
