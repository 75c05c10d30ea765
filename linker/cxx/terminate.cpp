// SPDX-License-Identifier: Apache-2.0
// terminate.cpp: the functions that would throw or terminate in C++. Exceptions do not exist here, so each panics the
// task, with the reason.
#include <bits/functexcept.h>
#include <janus/rt.h>

#include <cstdarg>
#include <cstdio>

#include "linker/start/program.h"

#define WEAK [[gnu::weak]]

extern "C" {
WEAK void __cxa_pure_virtual() {
  janus_task_panic("a pure virtual function was called");
}
WEAK void __cxa_deleted_virtual() {
  janus_task_panic("a deleted virtual function was called");
}
WEAK void __cxa_throw_bad_array_new_length() {
  janus_task_panic("bad_array_new_length");
}
}

namespace std {

WEAK void terminate() noexcept {
  janus_panic_because(JANUS_CAUSE_ABORT, "std::terminate() was called");
}

#ifdef _GLIBCXX_VERBOSE_ASSERT
WEAK void __glibcxx_assert_fail(const char*, int, const char* function, const char* condition) noexcept {
  janus_print(2, "janus: %s: assertion failed: %s\n", function, condition);
  janus_panic_because(JANUS_CAUSE_ABORT, "an assertion of the C++ library failed");
}
#endif

WEAK void __throw_bad_exception() {
  janus_task_panic("bad_exception");
}
WEAK void __throw_bad_alloc() {
  janus_task_panic("bad_alloc");
}
WEAK void __throw_bad_array_new_length() {
  janus_task_panic("bad_array_new_length");
}
WEAK void __throw_bad_cast() {
  janus_task_panic("bad_cast");
}
WEAK void __throw_bad_typeid() {
  janus_task_panic("bad_typeid");
}
WEAK void __throw_logic_error(const char* why) {
  janus_task_panic(why);
}
WEAK void __throw_domain_error(const char* why) {
  janus_task_panic(why);
}
WEAK void __throw_invalid_argument(const char* why) {
  janus_task_panic(why);
}
WEAK void __throw_length_error(const char* why) {
  janus_task_panic(why);
}
WEAK void __throw_out_of_range(const char* why) {
  janus_task_panic(why);
}
WEAK void __throw_out_of_range_fmt(const char* format, ...) {
  char why[160];
  va_list values;
  va_start(values, format);
  vsnprintf(why, sizeof why, format, values);
  va_end(values);
  janus_task_panic(why);
}
WEAK void __throw_runtime_error(const char* why) {
  janus_task_panic(why);
}
WEAK void __throw_range_error(const char* why) {
  janus_task_panic(why);
}
WEAK void __throw_overflow_error(const char* why) {
  janus_task_panic(why);
}
WEAK void __throw_underflow_error(const char* why) {
  janus_task_panic(why);
}
WEAK void __throw_ios_failure(const char* why) {
  janus_task_panic(why);
}
WEAK void __throw_ios_failure(const char* why, int) {
  janus_task_panic(why);
}
WEAK void __throw_system_error(int) {
  janus_task_panic("system_error");
}
WEAK void __throw_future_error(int) {
  janus_task_panic("future_error");
}
WEAK void __throw_bad_function_call() {
  janus_task_panic("bad_function_call");
}

}  // namespace std
