// SPDX-License-Identifier: Apache-2.0
// rt/abi/reports/print_workers.cpp — a line for each worker in what JANUS_STATS prints. An archive member that janus-cc links
// unless it strips the program.
#include "rt/abi/reports/queues.h"
#include "rt/base/format.h"
#include "rt/platform.h"

JANUS_ANCHOR(janus_worker_lines);

namespace janus {

void print_workers(Runtime& runtime) noexcept {
  for (unsigned i = 0; i < runtime.scheduler.worker_count(); ++i) {
    const janus_worker_stats each = statistics_of(*runtime.scheduler.worker(i));
    Text<256> line;
    line.append("janus: worker %-13u %lu tasks spawned, %lu ended, %lu switches, %lu steals, %lu parks, %lu ops\n", i,
                each.tasks_spawned, each.tasks_ended, each.switches, each.steals, each.parks, each.ops_used);
    (void)!platform::write(2, line.data(), line.size());
  }
}

}  // namespace janus
