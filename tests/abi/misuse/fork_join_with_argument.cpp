// SPDX-License-Identifier: Apache-2.0
// REFUSED: calls a closure without arguments
#include <janus/rt.hpp>
void test() {
  (void)janus::fork_join([](int x) { return x; }, [] { return 2; });
}
