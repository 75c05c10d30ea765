// SPDX-License-Identifier: Apache-2.0
// REFUSED: which must be noexcept
#include <janus/rt.hpp>
struct Throws {
  Throws();
  Throws(Throws&&);
};
void test() {
  (void)janus::fork_join([] { return Throws(); }, [] { return 1; });
}
