// SPDX-License-Identifier: Apache-2.0
// REFUSED: a child's closure is called at each start, so it must outlive the supervisor; pass a variable
#include <janus/rt.hpp>

void f(janus::Supervisor& supervisor) {
  (void)supervisor.add([] { return 0; });
}
