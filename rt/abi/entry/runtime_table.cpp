// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/runtime_table.cpp — the process's runtimes by number.
#include "rt/abi/entry/runtime_table.h"

#include "rt/abi/entry/global_runtime.h"
#include "rt/abi/reports/stats.h"
#include "rt/base/errors.h"
#include "rt/task/run/runtime_life.h"

namespace janus {

RuntimePlace runtime_places[kMaxRuntimes];

namespace {

bool register_runtime(Runtime& runtime) noexcept {
  for (unsigned number = 0; number < kMaxRuntimes; ++number) {
    Runtime* nobody = nullptr;
    runtime.number = number;
    if (runtime_places[number].runtime.compare_exchange_strong(nobody, &runtime, std::memory_order_seq_cst))
      return true;
  }
  return false;
}

}  // namespace

OrError<Runtime*> create_registered(const RuntimeOptions& options) noexcept {
  const OrError<Runtime*> runtime = create_runtime(options);
  if (!runtime || register_runtime(*runtime.value)) return runtime;
  destroy_runtime(runtime.value);
  return Failed{kErrorNoMemory};
}

bool destroy_registered(const void* pointer) noexcept {
  for (RuntimePlace& place : runtime_places) {
    Runtime* runtime = place.runtime.load(std::memory_order_relaxed);
    if (runtime != pointer || pointer == nullptr) continue;
    if (!place.runtime.compare_exchange_strong(runtime, nullptr, std::memory_order_seq_cst)) return false;
    forget_process_runtime(runtime);
    refuse_stops_from_outside(*runtime);
    while (place.pins.load(std::memory_order_seq_cst) != 0) arch::pause();  // a few instructions, unless preempted
    end_stops_from_outside(*runtime);
    if (runtime->options.prints_stats) print_statistics(*runtime);
    destroy_runtime(runtime);
    return true;
  }
  return false;
}

Runtime* runtime_elsewhere(std::uint64_t handle) noexcept {
  return runtime_places[runtime_number_of(handle)].runtime.load(std::memory_order_acquire);
}

Runtime* pin_runtime(unsigned number) noexcept {
  RuntimePlace& place = runtime_places[number];
  place.pins.fetch_add(1, std::memory_order_seq_cst);
  return place.runtime.load(std::memory_order_seq_cst);
}

void unpin_runtime(unsigned number) noexcept {
  runtime_places[number].pins.fetch_sub(1, std::memory_order_seq_cst);
}

RuntimeOfPointer::RuntimeOfPointer(const void* pointer) noexcept {
  if (pointer == nullptr) return;
  for (pinned_ = 0; pinned_ < kMaxRuntimes; ++pinned_) {
    if (runtime_places[pinned_].runtime.load(std::memory_order_relaxed) != pointer) continue;
    runtime_ = pin_runtime(pinned_);
    if (runtime_ == pointer) return;
    unpin_runtime(pinned_);
  }
  runtime_ = nullptr;
}

RuntimeOfPointer::~RuntimeOfPointer() {
  if (runtime_ != nullptr) unpin_runtime(pinned_);
}

}  // namespace janus
