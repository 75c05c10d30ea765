// SPDX-License-Identifier: Apache-2.0
// arch/hosted/order_hooks.cpp — rt/base/order_hooks.h for ThreadSanitizer. Memory that the runtime reads or writes on a
// task's behalf is also checked for AddressSanitizer.
#include "rt/base/order_hooks.h"

#include "arch/hosted/sanitizers.h"

namespace janus::order_hooks {

void release(const void* place) noexcept {
  if (__tsan_release != nullptr) __tsan_release(const_cast<void*>(place));
}
void acquire(const void* place) noexcept {
  if (__tsan_acquire != nullptr) __tsan_acquire(const_cast<void*>(place));
}

void reads(const void* from, std::size_t bytes) noexcept {
  if (from == nullptr || bytes == 0) return;
  if (__asan_region_is_poisoned != nullptr && __asan_region_is_poisoned(const_cast<void*>(from), bytes) != nullptr)
    __asan_report_load_n(from, bytes);
  if (__tsan_read_range != nullptr) __tsan_read_range(const_cast<void*>(from), bytes);
}
void writes(const void* to, std::size_t bytes) noexcept {
  if (to == nullptr || bytes == 0) return;
  if (__asan_region_is_poisoned != nullptr && __asan_region_is_poisoned(const_cast<void*>(to), bytes) != nullptr)
    __asan_report_store_n(to, bytes);
  if (__tsan_write_range != nullptr) __tsan_write_range(const_cast<void*>(to), bytes);
}

}  // namespace janus::order_hooks
