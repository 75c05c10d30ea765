// SPDX-License-Identifier: Apache-2.0
// REFUSED: a result is a value
#include <janus/rt.hpp>
void test(janus::Nursery& nursery, int& x) {
  nursery.spawn([&x]() -> int& { return x; });
}
