// SPDX-License-Identifier: Apache-2.0
#include <janus/rt.h>

#include "greet.h"

static int64_t greet_as_task(void* whom) {
  return greet(whom);
}

int main(void) {
  janus_nursery_create();
  janus_nursery_spawn(greet_as_task, "C");
  return (int)janus_nursery_await_all();
}
