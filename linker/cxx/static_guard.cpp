// SPDX-License-Identifier: Apache-2.0
// static_guard.cpp: decides which task initialises a function-local static and makes others wait (__cxa_guard_*,
// Itanium C++ ABI). While a second task waits, its worker runs other tasks. If the first task ends by a panic, the next
// one tries again, as after an exception. Compiled code checks the guard's first byte and calls these functions only
// while it is 0.
#include <janus/rt.h>

#include <cstdint>

extern "C" {

// Functions of the runtime (rt/abi/lock_by_address.cpp). Result 1: the caller has to initialise the static; 0: it is initialised;
// negative: the reason for failure.
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
