// SPDX-License-Identifier: Apache-2.0
// main releases its own handle, and its return value still becomes the exit status, here 0.
#include "hostile.h"

int main(void) {
  const janus_task self = janus_task_self();
  const int first = janus_task_release(self);
  CHECK_THAT(first, first == 0 || first == JANUS_E_STATE);
  janus_task_release(self);
  CHECK_EQ(janus_task_id(), 1);
  janus_nursery* nursery = open_plain();
  CHECK_EQ(close_cage(nursery), 0);
  return end();
}
