// SPDX-License-Identifier: Apache-2.0
// REFUSED: takes two elements and returns a bool
#include <janus/rt.hpp>
struct Point {
  int x, y;
};
void test(Point (&points)[3]) {
  (void)janus::parallel_sort(points);
}
