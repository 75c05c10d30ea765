// SPDX-License-Identifier: Apache-2.0
// rt/abi/local_inherited.cpp — janus_local_new_inherited.
#include "rt/abi/local_calls.h"
#include "rt/task/account/inherited.h"

extern "C" int janus_local_new_inherited(janus_local_key* key, void (*destroy)(void*)) {
  return janus::new_key(key, destroy, janus::new_inherited);
}
