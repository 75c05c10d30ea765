// SPDX-License-Identifier: Apache-2.0
// REFUSED: crosses tasks by a move, which must be noexcept
#include <janus/rt.hpp>
struct Risky {
  Risky() = default;
  Risky(Risky&&) noexcept(false) {}
};
void test(janus::Nursery& nursery) {
  nursery.spawn([] { return Risky(); });
}
