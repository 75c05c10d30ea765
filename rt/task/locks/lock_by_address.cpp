// SPDX-License-Identifier: Apache-2.0
// rt/task/locks/lock_by_address.cpp — a keyed lock for each object that is being initialised, or used by one task at a
// time. A task that gets the lock of a static after its initialisation finds the flag set.
#include "rt/task/locks/lock_by_address.h"

#include "rt/task/account/memory.h"
#include "rt/task/locks/keyed_lock.h"
#include "rt/task/record/panic.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/user_memory.h"

namespace janus {

namespace {

// The steps that take time or can end the task come first, while the task holds nothing.
OrError<LockWaiter*> make_waiter(Task& task) noexcept {
  if (holds_max_locks(task))
    panic(task, Cause::kMisuse, "it holds 64 locks, or statics that it initialises, and wants another one");
  Worker& worker = current_worker();
  const OrError<void*> block = allocate_own(runtime_of(worker), &worker, &task, sizeof(LockWaiter));
  if (!block) return Failed{block.error};
  return new (block.value) LockWaiter;
}

void free_waiter(LockWaiter* waiter) noexcept {
  Worker& worker = current_worker();
  release_own(runtime_of(worker), &worker, waiter);
}

}  // namespace

int begin_once(Task& task, const OnceFlag* flag) noexcept {
  if (read_user_word(*flag) != 0) return 0;  // pairs with end_once()
  const OrError<LockWaiter*> made = make_waiter(task);
  if (!made) return made.error;
  LockWaiter* const waiter = made.value;
  const int answer = keyed_lock(*waiter, key_of_object(flag), &task);
  if (answer != 0) {
    free_waiter(waiter);
    return answer;
  }
  add_held_lock(task, *waiter);  // before the flag is read, which may end the task
  if (read_user_word(*flag) == 0) return 1;
  unlock_object(task, flag);
  return 0;
}

void end_once(Task& task, OnceFlag* flag, Once how) noexcept {
  if (how == Once::kDone) {
    std::atomic_signal_fence(std::memory_order_release);  // for the compiler; pairs with begin_once()
    write_user(reinterpret_cast<std::uint8_t*>(flag), std::uint8_t{1});
  }
  unlock_object(task, flag);
}

int try_lock_object(Task& task, const void* object) noexcept {
  const OrError<LockWaiter*> made = make_waiter(task);
  if (!made) return made.error;
  LockWaiter* const waiter = made.value;
  if (keyed_try_lock(*waiter, key_of_object(object), task)) {
    add_held_lock(task, *waiter);
    return 1;
  }
  free_waiter(waiter);
  return 0;
}

void unlock_object(Task& task, const void* object) noexcept {
  LockWaiter* const waiter = remove_held_lock(task, key_of_object(object));
  if (waiter == nullptr) return;
  keyed_unlock(*waiter);
  free_waiter(waiter);
}

}  // namespace janus
