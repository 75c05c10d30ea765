// SPDX-License-Identifier: Apache-2.0
// REFUSED: nodiscard|unused-result
#include <janus/rt.hpp>
void test() {
  janus::fork_join([] { return 1; }, [] { return 2; });
}
