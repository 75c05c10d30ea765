// SPDX-License-Identifier: Apache-2.0
// limits.c — runs one workload: PROGRAM WORKLOAD SIZE WORKERS.
#include "limits.h"

int main(int argc, char** argv) {
  static const struct workload kWorkloads[] = {
      {"switch", limit_of_switch},
      {"ring", limit_of_ring},
      {"lazy_spawn", limit_of_lazy_spawn},
      {"forkjoin", limit_of_forkjoin},
      {"first_touch", limit_of_first_touch},
      {"guard", limit_of_guard},
      {"futex_wake", limit_of_futex_wake},
      {"futex_timeout", limit_of_futex_timeout},
      {"round_trip", limit_of_round_trip},
      {"heavy_fence", limit_of_heavy_fence},
      {"steal", limit_of_steal},
      {"deque", limit_of_deque},
      {NULL, NULL},
  };
  return run_workload(kWorkloads, argc, argv);
}
