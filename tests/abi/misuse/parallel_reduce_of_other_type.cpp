// SPDX-License-Identifier: Apache-2.0
// REFUSED: takes two T and returns a T
#include <janus/rt.hpp>
struct Sum {
  explicit Sum(int);
};
void test(int (&numbers)[3]) {
  (void)janus::parallel_reduce(
      numbers, Sum(1), [](int n) { return Sum(n); }, [](int a, int b) { return a + b; });
}
