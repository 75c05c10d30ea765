// SPDX-License-Identifier: Apache-2.0
// rt/abi/unsupported.cpp — functions that version 1 declares and this release does not support. They give
// JANUS_E_UNSUPPORTED.
#include "rt/abi/entry/entry.h"

using namespace janus;

extern "C" {

int janus_safepoint_stop(janus_rt*, int64_t) {
  (void)enter();
  return JANUS_E_UNSUPPORTED;
}
int janus_safepoint_resume(janus_rt*) {
  (void)enter();
  return JANUS_E_UNSUPPORTED;
}

}  // extern "C"
