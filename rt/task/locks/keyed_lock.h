// SPDX-License-Identifier: Apache-2.0
// rt/task/locks/keyed_lock.h — one after another: a task that wants what another has waits until it is its turn. Crowds
// (rt/task/account/group.h) take turns: each of the outermost cages is one, and all tasks that are in no cage are one; in a
// crowd it is first come, first served. For what takes too long for a SpinLock: a write to a descriptor, the
// initialisation of a static. A task that waits leaves its worker; a thread outside tasks sleeps. One for the process:
// tasks of several runtimes may queue together. docs/decisions/0153
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/task/record/task.h"

namespace janus {

// One place in a queue. Its owner keeps it from take_turn() to pass_turn().
struct Turn {
  enum State : std::uint32_t { kWaits, kHas, kWasSentAway };

  std::uint64_t key;     // what is waited for: key_of_descriptor(), key_of_object()
  Task* task;            // nullptr: a thread outside tasks
  const Account* crowd;  // crowd_of()
  // The list of a key holds the turn of the task that has it, and of each crowd that waits the oldest turn. The other
  // turns of a crowd stand behind its oldest.
  Turn *next, *behind;
  Turn* last_behind;  // of a crowd's oldest: the newest of the crowd, maybe itself
  Turn* below[2];     // of the first in a key's list: the first ones of other keys, by the next bit of the key
  std::atomic<std::uint32_t> state;
  Turn* also_held;  // the next one that its task holds; see hold_turn()
};

// What is waited for. A descriptor's key never equals that of an object, whatever address a user makes up.
inline std::uint64_t key_of_descriptor(int fd) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(fd)) << 1 | 1;
}
inline std::uint64_t key_of_object(const void* object) noexcept {
  return std::uint64_t{reinterpret_cast<std::uintptr_t>(object)} << 1;
}

// 0: the caller has the turn. kErrorDeadlock: the task has it already. kCancelledCode: the task was sent away
// (send_cancelled_away). A cancel does not end the wait by itself, since the holder is about to pass the turn on.
[[nodiscard]] int take_turn(Turn& turn, std::uint64_t key, Task* task) noexcept;
// True: the caller has the turn. False: it is held already, and nothing has happened.
[[nodiscard]] bool try_turn(Turn& turn, std::uint64_t key, Task& task) noexcept;
// Passes the turn on to the next one that waits.
void pass_turn(Turn& turn) noexcept;
// Called by a holder that will have the turn for long: passes it to the next crowd, if any waits, and has it again when
// the other crowds have had theirs, before the rest of its own crowd. As take_turn(); kCancelledCode: the turn is no
// longer the caller's.
[[nodiscard]] int share_turn(Turn& turn) noexcept;
// Called by a holder that cannot say when it will pass the turn on: tasks that were told to end wait for it no longer.
void send_cancelled_away(const Turn& turn) noexcept;

// A turn that ends with its task at the latest: pass_held_turns() passes it on. It is a heap block of the runtime's,
// charged to the task, which holds less than kMostHeld others: end_hold() looks through all of them.
inline constexpr unsigned kMostHeld = 64;
[[nodiscard]] bool holds_most(const Task& task) noexcept;
void hold_turn(Task& task, Turn& turn) noexcept;
// Takes the turn of that key off the list of held ones. nullptr: the task does not hold it.
Turn* end_hold(Task& task, std::uint64_t key) noexcept;
// Passes on what a task that ends still holds. Its frames are intact, or gone.
void pass_held_turns(Task& task) noexcept;

}  // namespace janus
