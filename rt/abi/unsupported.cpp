// SPDX-License-Identifier: Apache-2.0
// rt/abi/unsupported.cpp — functions that version 1 declares and this release does not support. They give
// JANUS_E_UNSUPPORTED; those that only tasks may call give JANUS_E_NO_TASK elsewhere.
#include "rt/abi/entry/entry.h"

using namespace janus;

namespace {

int unsupported_in_task() noexcept {
  return enter().task != nullptr ? JANUS_E_UNSUPPORTED : JANUS_E_NO_TASK;
}

}  // namespace

extern "C" {

int64_t janus_blocking(janus_task_fn, void*) {
  return unsupported_in_task();
}

}  // extern "C"
