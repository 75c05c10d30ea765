// SPDX-License-Identifier: Apache-2.0
#include "tests/api/in_task.h"

namespace janus::test {

void run_in_root_tasks(void (*body)()) {
  body();
}

}  // namespace janus::test
