// SPDX-License-Identifier: Apache-2.0
// arch/hosted/start.cpp — starts the root task from the C library's start code, which has run the constructors; and
// lets a task wait for a function-local static that another task initialises. janus-cc --hosted links with --wrap of
// these names.
#include <sched.h>

#include <cstdint>

#include <janus/rt.h>

extern "C" {

extern char** environ;

[[noreturn]] void janus_boot(int argc, char** argv, char** envp);  // rt/abi/start/boot.cpp
int janus_once_begin(std::uint8_t* flag);                          // rt/abi/lock_by_address.cpp
void janus_once_end(std::uint8_t* flag, int is_done);
[[gnu::weak]] int __real_main(int argc, char** argv, char** envp);

int __wrap_main(int argc, char** argv, char** envp) {
  janus_boot(argc, argv, envp);
}

std::int64_t janus_run_main(int argc, char** argv, char** envp) {
  return __real_main(argc, argv, envp);
}

// The C++ library would block the whole thread, and so also the task that initialises, if it runs on the same thread.
// Threads outside tasks use the guard's second byte as a lock among themselves; they do not exclude tasks.
int __wrap___cxa_guard_acquire(std::uint8_t* guard) noexcept {
  if (janus_task_id() == 0) {
    while (__atomic_exchange_n(&guard[1], 1, __ATOMIC_ACQUIRE) != 0) sched_yield();
    if (__atomic_load_n(guard, __ATOMIC_ACQUIRE) == 0) return 1;
    __atomic_store_n(&guard[1], 0, __ATOMIC_RELEASE);
    return 0;
  }
  const int answer = janus_once_begin(guard);
  if (answer >= 0) return answer;
  if (answer == JANUS_E_DEADLOCK) janus_task_panic("a function-local static needs itself for its initialisation");
  janus_task_panic("no memory for the initialisation of a function-local static");
}

namespace {

void end_guard(std::uint8_t* guard, std::uint8_t is_done) noexcept {
  if (janus_task_id() != 0) return janus_once_end(guard, is_done);
  if (is_done != 0) __atomic_store_n(guard, 1, __ATOMIC_RELEASE);
  __atomic_store_n(&guard[1], 0, __ATOMIC_RELEASE);
}

}  // namespace

void __wrap___cxa_guard_release(std::uint8_t* guard) noexcept {
  end_guard(guard, 1);
}
void __wrap___cxa_guard_abort(std::uint8_t* guard) noexcept {
  end_guard(guard, 0);
}

}  // extern "C"
