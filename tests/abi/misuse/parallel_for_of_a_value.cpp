// SPDX-License-Identifier: Apache-2.0
// REFUSED: returns nothing, or a Result<void>
#include <janus/rt.hpp>
void test(int (&numbers)[3]) {
  (void)janus::parallel_for(numbers, [](int& number) { return number; });
}
