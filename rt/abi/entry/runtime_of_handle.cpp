// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/runtime_of_handle.cpp — see runtime_of_handle.h; runtime_table.h explains why the runtime stays alive.
#include "rt/abi/entry/runtime_of_handle.h"

#include "rt/abi/entry/runtime_table.h"

namespace janus {

RuntimeOfHandle::RuntimeOfHandle(Caller me, std::uint64_t handle) noexcept
    : caller_(me.task != nullptr ? me.worker : nullptr), handle_(handle) {
  const unsigned number = runtime_number_of(handle);
  Runtime* const own = me.task != nullptr ? &runtime_of(*me.worker) : nullptr;
  if (own != nullptr && own->number == number) {
    runtime_ = own;
    return;
  }
  runtime_ = pin_runtime(number);
  pinned_ = number;
}

RuntimeOfHandle::~RuntimeOfHandle() {
  if (pinned_ != kNotPinned) unpin_runtime(pinned_);
}

Task* RuntimeOfHandle::lock() const noexcept {
  return runtime_ != nullptr ? lock_handle(caller_, *runtime_, handle_) : nullptr;
}

}  // namespace janus
