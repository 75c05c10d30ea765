// SPDX-License-Identifier: Apache-2.0
// rt/abi/runtime_table.cpp — the process's runtimes by number.
#include "rt/abi/runtime_table.h"

#include "rt/abi/stats.h"
#include "rt/base/format.h"
#include "rt/task/handle.h"
#include "rt/task/panic.h"
#include "rt/task/runtime_life.h"

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

Runtime* create_registered(const RuntimeOptions& options, int* error) noexcept {
  Runtime* const runtime = create_runtime(options, error);
  if (runtime == nullptr || register_runtime(*runtime)) return runtime;
  destroy_runtime(runtime);
  *error = kErrorNoMemory;
  return nullptr;
}

bool destroy_registered(const void* pointer) noexcept {
  for (RuntimePlace& place : runtime_places) {
    Runtime* runtime = place.runtime.load(std::memory_order_relaxed);
    if (runtime != pointer || pointer == nullptr) continue;
    if (!place.runtime.compare_exchange_strong(runtime, nullptr, std::memory_order_seq_cst)) return false;
    forget_process_runtime(runtime);
    while (place.pins.load(std::memory_order_seq_cst) != 0) arch::pause();  // a few instructions, unless preempted
    if (runtime->options.prints_stats) print_statistics(*runtime);
    destroy_runtime(runtime);
    return true;
  }
  return false;
}

Runtime* runtime_elsewhere(std::uint64_t handle) noexcept {
  return runtime_places[runtime_number_of(handle)].runtime.load(std::memory_order_acquire);
}

[[gnu::noinline, gnu::cold]] void refuse_handle(const Caller& me, const char* kind, std::uint64_t handle,
                                                int* error) noexcept {
  *error = JANUS_E_STALE;
  if (me.task == nullptr) return;
  Text<64> why;
  why.append("there is no %s %p", kind, reinterpret_cast<void*>(handle));
  panic(*me.task, why.data());
}

RuntimeOfHandle::RuntimeOfHandle(Caller me, std::uint64_t handle) noexcept : handle_(handle) {
  const unsigned number = runtime_number_of(handle);
  Runtime* const own = me.task != nullptr ? &runtime_of(*me.worker) : nullptr;
  if (own != nullptr && own->number == number) {
    runtime_ = own;
    return;
  }
  RuntimePlace& place = runtime_places[number];
  place.pins.fetch_add(1, std::memory_order_seq_cst);
  runtime_ = place.runtime.load(std::memory_order_seq_cst);
  pinned_ = number;
}

RuntimeOfHandle::~RuntimeOfHandle() {
  if (pinned_ != kNotPinned) runtime_places[pinned_].pins.fetch_sub(1, std::memory_order_seq_cst);
}

Task* RuntimeOfHandle::lock() const noexcept {
  return runtime_ != nullptr ? lock_handle(*runtime_, handle_) : nullptr;
}

RuntimeOfPointer::RuntimeOfPointer(const void* pointer) noexcept {
  if (pointer == nullptr) return;
  for (pinned_ = 0; pinned_ < kMaxRuntimes; ++pinned_) {
    RuntimePlace& place = runtime_places[pinned_];
    if (place.runtime.load(std::memory_order_relaxed) != pointer) continue;
    place.pins.fetch_add(1, std::memory_order_seq_cst);
    runtime_ = place.runtime.load(std::memory_order_seq_cst);
    if (runtime_ == pointer) return;
    place.pins.fetch_sub(1, std::memory_order_seq_cst);
  }
  runtime_ = nullptr;
}

RuntimeOfPointer::~RuntimeOfPointer() {
  if (runtime_ != nullptr) runtime_places[pinned_].pins.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace janus
