// SPDX-License-Identifier: Apache-2.0
// arch/hosted/sanitizers.h — the functions of the program's sanitizer. Every name is weak, and nullptr if the program
// has no such sanitizer. Declared here because the sanitizers' headers are not installed everywhere, and their names
// are not weak.
#pragma once

#include <cstddef>

extern "C" {

#define JANUS_WEAK [[gnu::weak]]

JANUS_WEAK void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom, std::size_t bytes);
JANUS_WEAK void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom, std::size_t* bytes);
JANUS_WEAK void __asan_unpoison_memory_region(const volatile void* at, std::size_t bytes);
JANUS_WEAK void* __asan_region_is_poisoned(void* at, std::size_t bytes);
JANUS_WEAK void __asan_report_load_n(const void* at, std::size_t bytes);
JANUS_WEAK void __asan_report_store_n(const void* at, std::size_t bytes);
JANUS_WEAK void __lsan_register_root_region(const void* at, std::size_t bytes);
JANUS_WEAK void* __tsan_get_current_fiber();
JANUS_WEAK void* __tsan_create_fiber(unsigned flags);
JANUS_WEAK void __tsan_set_fiber_name(void* fiber, const char* name);
JANUS_WEAK void __tsan_destroy_fiber(void* fiber);
JANUS_WEAK void __tsan_switch_to_fiber(void* fiber, unsigned flags);
JANUS_WEAK void __tsan_acquire(void* place);
JANUS_WEAK void __tsan_release(void* place);
JANUS_WEAK void __tsan_read_range(void* at, std::size_t bytes);
JANUS_WEAK void __tsan_write_range(void* at, std::size_t bytes);
// ThreadSanitizer's interface for virtual machines, the only one that can forget accesses to memory.
JANUS_WEAK void __tsan_java_init(unsigned long heap, unsigned long bytes);
JANUS_WEAK void __tsan_java_alloc(unsigned long at, unsigned long bytes);
JANUS_WEAK void __tsan_java_free(unsigned long at, unsigned long bytes);

#undef JANUS_WEAK

}  // extern "C"

namespace janus::sanitizers {

inline bool has_address() noexcept {
  return __asan_region_is_poisoned != nullptr;
}
inline bool has_thread() noexcept {
  return __tsan_create_fiber != nullptr;
}

// A flag of __tsan_switch_to_fiber: the switch does not order what this thread did before with what it does next.
inline constexpr unsigned kUnordered = 1;

}  // namespace janus::sanitizers
