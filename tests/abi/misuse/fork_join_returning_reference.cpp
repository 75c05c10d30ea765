// SPDX-License-Identifier: Apache-2.0
// REFUSED: a result is a value
#include <janus/rt.hpp>
int number;
void test() {
  (void)janus::fork_join([] { return 1; }, []() -> int& { return number; });
}
