// SPDX-License-Identifier: Apache-2.0
// REFUSED: deleted
#include <janus/rt.hpp>
void test(janus::Nursery& nursery) {
  janus::Nursery moved(std::move(nursery));
}
