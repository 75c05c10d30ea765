// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/global_runtime.cpp — see global_runtime.h.
#include "rt/abi/entry/global_runtime.h"

#include <atomic>

namespace janus {

namespace {

// The process's own runtime, for calls that name no runtime.
std::atomic<Runtime*> the_runtime{nullptr};
std::atomic<bool> is_program{false};

}  // namespace

bool every_thread_is_worker = false;

Runtime* process_runtime() noexcept {
  return the_runtime.load(std::memory_order_acquire);
}
void set_process_runtime(Runtime* runtime) noexcept {
  the_runtime.store(runtime, std::memory_order_release);
}
Runtime* take_process_runtime() noexcept {
  return the_runtime.exchange(nullptr, std::memory_order_acq_rel);
}
void forget_process_runtime(Runtime* runtime) noexcept {
  (void)the_runtime.compare_exchange_strong(runtime, nullptr, std::memory_order_acq_rel);
}
void mark_as_program() noexcept {
  is_program.store(true, std::memory_order_relaxed);
  every_thread_is_worker = !kTasksAreWatched;  // with a C library below, a program may have threads of its own
}
bool is_own_program() noexcept {
  return is_program.load(std::memory_order_relaxed);
}

}  // namespace janus
