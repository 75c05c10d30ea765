// SPDX-License-Identifier: Apache-2.0
// REFUSED: closure is called without arguments
#include <janus/rt.hpp>
void test(janus::Nursery& nursery) {
  nursery.spawn([](int x) { return x; });
}
