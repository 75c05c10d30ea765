// SPDX-License-Identifier: Apache-2.0
// REFUSED: the closure cannot be stored
#include <janus/rt.hpp>
struct Unique {
  Unique() = default;
  Unique(Unique&&) noexcept = default;
};
void test(janus::Nursery& nursery) {
  auto closure = [unique = Unique()] { (void)unique; };
  nursery.spawn(closure);
}
