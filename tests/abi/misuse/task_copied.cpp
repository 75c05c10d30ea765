// SPDX-License-Identifier: Apache-2.0
// REFUSED: deleted
#include <janus/rt.hpp>
void test(janus::Task<int>& task) {
  janus::Task<int> copy(task);
}
