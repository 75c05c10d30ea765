// SPDX-License-Identifier: Apache-2.0
// rt/task/once.cpp — a turn for each object that is being initialised, or used by one at a time. Who gets that of a
// static late finds the flag set.
#include "rt/task/once.h"

#include "rt/task/memory.h"
#include "rt/task/runtime.h"
#include "rt/task/turn.h"

namespace janus {

namespace {

void free_turn(Turn* turn) noexcept {
  Worker& worker = current_worker();
  release_own(runtime_of(worker), &worker, turn);
}

}  // namespace

int begin_once(Task& task, OnceFlag& flag) noexcept {
  if (flag.load(std::memory_order_acquire) != 0) return 0;  // pairs with end_once()
  Worker& worker = current_worker();
  int error = 0;
  auto* const turn = static_cast<Turn*>(allocate_own(runtime_of(worker), &worker, &task, sizeof(Turn), &error));
  if (turn == nullptr) return error;
  const int answer = take_turn(*new (turn) Turn, key_of_object(&flag), &task);
  const bool is_ours = answer == 0 && flag.load(std::memory_order_acquire) == 0;
  if (is_ours) {
    hold_turn(task, *turn);
    return 1;
  }
  if (answer == 0) pass_turn(*turn);
  free_turn(turn);
  return answer;
}

void end_once(Task& task, OnceFlag& flag, Once how) noexcept {
  if (how == Once::kDone) flag.store(1, std::memory_order_release);  // pairs with begin_once(), and with the compiler
  unlock_object(task, &flag);
}

int try_lock_object(Task& task, const void* object) noexcept {
  Worker& worker = current_worker();
  int error = 0;
  // What takes its time comes first, and what can end the task, while nothing is held.
  auto* const turn = static_cast<Turn*>(allocate_own(runtime_of(worker), &worker, &task, sizeof(Turn), &error));
  if (turn == nullptr) return error;
  if (try_turn(*new (turn) Turn, key_of_object(object), task)) {
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
