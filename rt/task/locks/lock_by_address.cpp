// SPDX-License-Identifier: Apache-2.0
// rt/task/locks/lock_by_address.cpp — a turn for each object that is being initialised, or used by one task at a time. A task that gets
// the turn of a static late finds the flag set.
#include "rt/task/locks/lock_by_address.h"

#include "rt/task/account/memory.h"
#include "rt/task/locks/keyed_lock.h"
#include "rt/task/record/panic.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/user_memory.h"

namespace janus {

namespace {

// What takes time, and what can end the task, comes first, while nothing is held.
Turn* make_turn(Task& task, int* error) noexcept {
  if (holds_most(task)) panic(task, "it holds 64 locks, or statics that it initialises, and wants another one");
  Worker& worker = current_worker();
  void* const block = allocate_own(runtime_of(worker), &worker, &task, sizeof(Turn), error);
  return block != nullptr ? new (block) Turn : nullptr;
}

void free_turn(Turn* turn) noexcept {
  Worker& worker = current_worker();
  release_own(runtime_of(worker), &worker, turn);
}

}  // namespace

int begin_once(Task& task, const OnceFlag* flag) noexcept {
  if (read_user_word(*flag) != 0) return 0;  // pairs with end_once()
  int error = 0;
  Turn* const turn = make_turn(task, &error);
  if (turn == nullptr) return error;
  const int answer = take_turn(*turn, key_of_object(flag), &task);
  if (answer != 0) {
    free_turn(turn);
    return answer;
  }
  hold_turn(task, *turn);  // before the flag is read, which may be the task's end
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
  int error = 0;
  Turn* const turn = make_turn(task, &error);
  if (turn == nullptr) return error;
  if (try_turn(*turn, key_of_object(object), task)) {
    hold_turn(task, *turn);
    return 1;
  }
  free_turn(turn);
  return 0;
}

void unlock_object(Task& task, const void* object) noexcept {
  Turn* const turn = end_hold(task, key_of_object(object));
  if (turn == nullptr) return;
  pass_turn(*turn);
  free_turn(turn);
}

}  // namespace janus
