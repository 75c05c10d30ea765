// SPDX-License-Identifier: Apache-2.0
// REFUSED: a Result holds a value, neither an Error
#include <janus/rt.hpp>
void test(janus::Nursery& nursery) {
  nursery.spawn([] { return janus::Error{-5, 1}; });
}
