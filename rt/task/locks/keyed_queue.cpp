// SPDX-License-Identifier: Apache-2.0
// rt/task/locks/keyed_queue.cpp — see keyed_queue.h.
#include "rt/task/locks/keyed_queue.h"

#include <utility>

namespace janus {

namespace {

// Removes and returns a leaf below `waiter`, to take its place in the tree; nullptr: there is none.
QueuedWaiter* take_leaf(QueuedWaiter& waiter) noexcept {
  QueuedWaiter** at = nullptr;
  for (QueuedWaiter* leaf = &waiter; leaf->below[0] != nullptr || leaf->below[1] != nullptr; leaf = *at)
    at = &leaf->below[leaf->below[0] == nullptr ? 1 : 0];
  return at != nullptr ? std::exchange(*at, nullptr) : nullptr;
}

// Removes the oldest waiter of a group from the group's queue. Returns the next one, which is now the oldest.
QueuedWaiter* next_oldest(const QueuedWaiter& waiter) noexcept {
  QueuedWaiter* const next = waiter.behind;
  if (next == nullptr) return nullptr;
  next->last_behind = waiter.last_behind;
  next->ahead = nullptr;
  return next;
}

}  // namespace

QueuedWaiter** KeyedQueue::place_of(std::uint64_t key) noexcept {
  QueuedWaiter** at = &root_;
  for (std::uint64_t bits = key; *at != nullptr && (*at)->key != key; bits >>= 1) at = &(*at)->below[bits & 1];
  return at;
}

void KeyedQueue::append(QueuedWaiter& waiter) noexcept {
  QueuedWaiter** at = place_of(waiter.key);
  if (*at == nullptr) waiter.below[0] = waiter.below[1] = nullptr;
  while (*at != nullptr) at = &(*at)->next;
  waiter.next = nullptr;
  *at = &waiter;
}

void KeyedQueue::remove(QueuedWaiter& waiter, QueuedWaiter* in_its_place) noexcept {
  QueuedWaiter** const first = place_of(waiter.key);
  QueuedWaiter** at = first;
  while (*at != &waiter) at = &(*at)->next;
  QueuedWaiter* heir = waiter.next;
  if (in_its_place != nullptr) {
    in_its_place->next = heir;
    heir = in_its_place;
  }
  if (at == first) {
    if (heir == nullptr) heir = take_leaf(waiter);
    if (heir != nullptr) {
      heir->below[0] = waiter.below[0];
      heir->below[1] = waiter.below[1];
    }
  }
  *at = heir;
}

void KeyedQueue::join_group(QueuedWaiter& waiter, QueuedWaiter* oldest) noexcept {
  waiter.behind = waiter.ahead = nullptr;
  waiter.last_behind = &waiter;
  if (oldest == nullptr) return append(waiter);
  waiter.ahead = oldest->last_behind;
  oldest->last_behind->behind = &waiter;
  oldest->last_behind = &waiter;
}

void KeyedQueue::lead_group(QueuedWaiter& waiter, QueuedWaiter* oldest) noexcept {
  waiter.behind = oldest;
  waiter.ahead = nullptr;
  waiter.last_behind = oldest != nullptr ? oldest->last_behind : &waiter;
  if (oldest != nullptr) {
    remove(*oldest);
    oldest->ahead = &waiter;
  }
  append(waiter);
}

void KeyedQueue::serve(QueuedWaiter& oldest) noexcept {
  QueuedWaiter* const next = next_oldest(oldest);
  remove(oldest);
  if (next != nullptr) append(*next);
}

void KeyedQueue::leave(QueuedWaiter& waiter, QueuedWaiter& oldest) noexcept {
  if (&waiter == &oldest) return remove(waiter, next_oldest(waiter));
  waiter.ahead->behind = waiter.behind;
  if (waiter.behind != nullptr)
    waiter.behind->ahead = waiter.ahead;
  else
    oldest.last_behind = waiter.ahead;
}

}  // namespace janus
