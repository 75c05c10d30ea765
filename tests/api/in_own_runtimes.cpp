// SPDX-License-Identifier: Apache-2.0
#include "tests/api/in_task.h"
#include "tests/api/world.h"

namespace janus::test {

void run_in_root_tasks(void (*body)()) {
  for (const janus_rt_config& config : {with_workers(1), with_workers(4), deterministic(4, 2)})
    CHECK_EQ(run_in(config, body), 0);
}

}  // namespace janus::test
