// SPDX-License-Identifier: Apache-2.0
// rt/task/locks/keyed_queue.h — waiters by a key that users choose, in a queue for each group
// (rt/task/account/group.h): groups take turns, and within a group it is first come, first served. Whoever has such a
// queue guards it by a lock. Nodes lie where their waiters wait; nothing is allocated. docs/decisions/0153, 0242
#pragma once

#include <cstdint>

#include "rt/task/record/task.h"

namespace janus {

struct QueuedWaiter {
  std::uint64_t key;
  const Account* group;  // group_of()
  // The list of a key holds the oldest waiter of each group. A group's other waiters are linked behind its oldest.
  QueuedWaiter* next;
  QueuedWaiter *ahead, *behind;  // `ahead` of the oldest is nullptr
  QueuedWaiter* last_behind;     // for the oldest waiter of a group: the group's newest one, which may be the same
  // for the first waiter in a key's list: its children in the search tree, by the next bit of their keys
  QueuedWaiter* below[2];
};

// A digital search tree (Coffman and Eve, 1970): all keys in a subtree n steps below the root have the same n lowest
// bits. So no path exceeds 64 steps, however many keys a user adds. All zero bytes are an empty queue.
class KeyedQueue {
 public:
  // The first waiter in the key's list; nullptr: there is none.
  [[nodiscard]] QueuedWaiter* first(std::uint64_t key) noexcept { return *place_of(key); }
  // The first one in the key's list that `accepts` accepts.
  template <typename Accepts>
  [[nodiscard]] QueuedWaiter* find(std::uint64_t key, Accepts accepts) noexcept {
    QueuedWaiter* waiter = first(key);
    while (waiter != nullptr && !accepts(*waiter)) waiter = waiter->next;
    return waiter;
  }

  // Puts the waiter at the end of its key's list: a group's oldest one, or one that stands for no group.
  void append(QueuedWaiter& waiter) noexcept;
  // Takes one of the key's list away; its place goes to `in_its_place`, unless that is nullptr.
  void remove(QueuedWaiter& waiter, QueuedWaiter* in_its_place = nullptr) noexcept;

  // `oldest`: that of the waiter's group, or nullptr. Puts the waiter behind all others of its group ...
  void join_group(QueuedWaiter& waiter, QueuedWaiter* oldest) noexcept;
  // ... or before them, and its group behind all other groups.
  void lead_group(QueuedWaiter& waiter, QueuedWaiter* oldest) noexcept;
  // Takes the oldest waiter of a group away; the rest of the group goes behind all other groups.
  void serve(QueuedWaiter& oldest) noexcept;
  // Takes any waiter away; its group keeps its place.
  void leave(QueuedWaiter& waiter, QueuedWaiter& oldest) noexcept;

 private:
  // The place of the pointer to the first waiter of that key; it holds nullptr if the key has none.
  QueuedWaiter** place_of(std::uint64_t key) noexcept;

  QueuedWaiter* root_ = nullptr;
};

}  // namespace janus
