// SPDX-License-Identifier: Apache-2.0
// REFUSED: elements that can be changed
#include <janus/rt.hpp>
void test(const int (&numbers)[3]) {
  (void)janus::parallel_sort(numbers);
}
