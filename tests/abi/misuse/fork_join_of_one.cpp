// SPDX-License-Identifier: Apache-2.0
// REFUSED: takes two closures or more
#include <janus/rt.hpp>
void test() {
  (void)janus::fork_join([] { return 1; });
}
