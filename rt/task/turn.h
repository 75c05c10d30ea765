// SPDX-License-Identifier: Apache-2.0
// rt/task/turn.h — one after another: whoever wants what somebody has waits until it is its turn. Crowds take turns:
// each of the outermost cages is one, and so are all who are in none; in a crowd it is first come, first served. For
// what takes too long for a SpinLock: a write to a descriptor, the initialisation of a static. A task that waits leaves
// its worker; a thread outside tasks sleeps. Of the process: tasks of several runtimes may queue together.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/task/task.h"

namespace janus {

// One in a queue, where its owner keeps it from take_turn() to pass_turn().
struct Turn {
  enum State : std::uint32_t { kWaits, kHas, kWasSentAway };

  std::uint64_t key;     // what it is about
  Task* task;            // nullptr: a thread outside tasks
  const Account* crowd;  // crowd_of()
  // Of a key stand in a list who has the turn, and of each crowd that waits the oldest. Behind that one stand the
  // others.
  Turn *next, *behind;
  Turn* last_behind;  // of the oldest: the newest of its crowd, maybe itself
  Turn* below[2];     // of the first of its key: the first ones of other keys, by the next bit of these
  std::atomic<std::uint32_t> state;
  Turn* also_held;  // of its task; see hold_turn()
};

// What is waited for. The keys of the one never equal those of the other, whatever address somebody makes up.
inline std::uint64_t key_of_descriptor(int fd) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(fd)) << 1 | 1;
}
inline std::uint64_t key_of_object(const void* object) noexcept {
  return std::uint64_t{reinterpret_cast<std::uintptr_t>(object)} << 1;
}

// 0: it is ours. kErrorDeadlock: the task has it already. kCancelledCode: sent away (send_cancelled_away). A cancel
// does not end the wait by itself, since whoever has the turn is about to pass it on.
[[nodiscard]] int take_turn(Turn& turn, std::uint64_t key, Task* task) noexcept;
// True: it is ours. False: somebody has it, and nothing has happened.
[[nodiscard]] bool try_turn(Turn& turn, std::uint64_t key, Task& task) noexcept;
// The next one's turn.
void pass_turn(Turn& turn) noexcept;
// By who has the turn, and will have it for long: the next crowd's, if any waits, and ours again when others have had
// theirs, before the rest of our crowd. As take_turn(); kCancelledCode: it is no longer ours.
[[nodiscard]] int share_turn(Turn& turn) noexcept;
// By who has the turn and cannot say when it will pass it on: tasks that were told to end wait for it no longer.
void send_cancelled_away(const Turn& turn) noexcept;

// A turn that ends with its task at the latest: pass_held_turns() passes it on. It is a heap block of the runtime's,
// charged to the task, which holds less than kMostHeld others: they are looked through.
inline constexpr unsigned kMostHeld = 64;
[[nodiscard]] bool holds_most(const Task& task) noexcept;
void hold_turn(Task& task, Turn& turn) noexcept;
// The turn of that key; nullptr: the task does not hold it. No longer held.
Turn* end_hold(Task& task, std::uint64_t key) noexcept;
// What a task that ends still holds. Its frames are as they were, or gone.
void pass_held_turns(Task& task) noexcept;

}  // namespace janus
