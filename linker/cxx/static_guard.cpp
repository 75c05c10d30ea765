// SPDX-License-Identifier: Apache-2.0
// static_guard.cpp: who initialises a function-local static, and who waits for it (__cxa_guard_*, Itanium C++ ABI).
// A task that comes second waits and its worker goes on; if the first one ends by a panic, the next one tries again, as
// after an exception. The compiler looks at the guard's first byte and calls only while it is 0.
#include <janus/rt.h>

#include <cstdint>

extern "C" {

// The runtime's (rt/abi/once.cpp). 1: the caller's to initialise, 0: done, negative: why not.
int janus_once_begin(std::uint8_t* flag);
void janus_once_end(std::uint8_t* flag, int is_done);

int __cxa_guard_acquire(std::uint8_t* guard) noexcept {
  const int answer = janus_once_begin(guard);
  if (answer >= 0) return answer;
  if (answer == JANUS_E_DEADLOCK) janus_task_panic("a function-local static needs itself for its initialisation");
  if (answer == JANUS_E_NO_TASK) janus_task_panic("a function-local static is initialised outside tasks");
  janus_task_panic("no memory for the initialisation of a function-local static");
}

void __cxa_guard_release(std::uint8_t* guard) noexcept {
  janus_once_end(guard, 1);
}
void __cxa_guard_abort(std::uint8_t* guard) noexcept {
  janus_once_end(guard, 0);
}

}  // extern "C"
