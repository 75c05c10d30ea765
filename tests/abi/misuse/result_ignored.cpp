// SPDX-License-Identifier: Apache-2.0
// REFUSED: nodiscard
#include <janus/rt.hpp>
void test(janus::Nursery& nursery) {
  nursery.await();
}
