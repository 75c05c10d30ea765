// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/room.cpp — see room.h. docs/decisions/0321
//
// INVARIANT one-wake: as in rt/task/locks/keyed_lock.cpp. Under the lock, a waiter in the list belongs to a task that
// has left its stack or to one that is about to read the waiter's state. The thread that removes it wakes the task
// before it releases the lock; the task reads only with the lock held, so it and its runtime exist until then.
#include "rt/task/wait/room.h"

#include "rt/base/order_hooks.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/room_bell.h"
#include "rt/task/wait/wait.h"
#include "rt/task/wait/wake.h"

namespace janus {

namespace {

struct RoomWaiter {
  enum State : std::uint32_t { kWaits, kWoken };

  RoomWaiter* next;
  int fd;
  unsigned index;  // in the helper's list; 0: not yet listed
  Task* task;      // nullptr: the thread itself waits
  std::atomic<std::uint32_t> state;
};

// The usual limit of descriptors, less the bell's one.
constexpr unsigned kMaxWaiters = 1023;

RoomWaiter* room_waiters;      // under the lock, oldest first
std::uint32_t answered_calls;  // under the lock: by the helper

// Under the lock. `at` points to the link to the waiter.
void take_waiter_out(RoomWaiter** at) noexcept {
  *at = (*at)->next;
  room().waiters.fetch_sub(1, std::memory_order_relaxed);
}

// Under the lock.
void wake_waiter(RoomWaiter& waiter) noexcept {
  waiter.state.store(RoomWaiter::kWoken, std::memory_order_release);
  if (waiter.task == nullptr) return platform::wake(waiter.state, 1);
  TaskState state = waits_for(WaitReason::kRoom);
  order_hooks::release(&waiter.task->frame);
  if (waiter.task->state.compare_exchange_strong(state, TaskState::kReady, std::memory_order_acq_rel))
    queue_ready(nullptr, *waiter.task);
}

// Under the lock. Wakes those whose descriptors were found to have room, or all, and lists the descriptors of the
// others. Returns the length of the list, with the bell. A waiter's index never grows, so no entry is overwritten
// before it is read.
unsigned wake_and_list(platform::Descriptor* list, bool all) noexcept {
  unsigned count = 1;
  for (RoomWaiter** at = &room_waiters; *at != nullptr;) {
    RoomWaiter& waiter = **at;
    if (all || (waiter.index != 0 && list[waiter.index].found != 0)) {
      take_waiter_out(at);
      wake_waiter(waiter);
      continue;
    }
    waiter.index = count;
    list[count++] = {waiter.fd, platform::kHasRoom, 0};
    at = &waiter.next;
  }
  list[0] = {room().bell, platform::kIsRung, 0};
  return count;
}

// The helper thread. It ends when no waiter is left; the next waiter starts another.
void help_with_room(void*) noexcept {
  platform::Descriptor list[1 + kMaxWaiters];
  for (bool all = false;;) {
    room().lock.lock();
    const std::uint32_t calls = room().calls.load(std::memory_order_seq_cst);
    all |= calls != answered_calls;
    answered_calls = calls;
    const unsigned count = wake_and_list(list, all);
    if (count == 1) break;
    room().lock.unlock();
    all = !platform::wait_for_room(list, count);
  }
  platform::close_bell(room().bell);
  room().bell = -1;
  room().lock.unlock();
  platform::exit_thread();
}

// Under the lock.
bool start_room_helper(std::uint32_t calls) noexcept {
  room().bell = platform::open_bell();
  if (room().bell < 0) return false;
  answered_calls = calls;
  if (platform::start_thread(help_with_room, nullptr, -1, "janus/room")) return true;
  platform::close_bell(room().bell);
  room().bell = -1;
  return false;
}

// Under the lock.
bool enter_room(RoomWaiter& waiter, std::uint32_t calls) noexcept {
  if (room().waiters.load(std::memory_order_relaxed) == kMaxWaiters) return false;
  if (room().bell >= 0)
    platform::ring_bell(room().bell);
  else if (!start_room_helper(calls))
    return false;
  RoomWaiter** at = &room_waiters;
  while (*at != nullptr) at = &(*at)->next;
  *at = &waiter;
  room().waiters.fetch_add(1, std::memory_order_seq_cst);
  return true;
}

// Under the lock.
void leave_room(RoomWaiter& waiter) noexcept {
  if (waiter.state.load(std::memory_order_relaxed) != RoomWaiter::kWaits) return;
  RoomWaiter** at = &room_waiters;
  while (*at != &waiter) at = &(*at)->next;
  take_waiter_out(at);
}

struct AwaitedRoom : Awaited {
  RoomWaiter& waiter;

  explicit AwaitedRoom(RoomWaiter& its) noexcept : waiter(its) {}
  static constexpr WaitReason reason() noexcept { return WaitReason::kRoom; }
  bool is_over() const noexcept { return waiter.state.load(std::memory_order_relaxed) != RoomWaiter::kWaits; }
  static void lock() noexcept { room().lock.lock(); }
  static void unlock() noexcept { room().lock.unlock(); }
};

// The lock is held before and after. Without a stack to switch to, the task keeps its worker, and the thread sleeps.
void wait_in_room(RoomWaiter& waiter) noexcept {
  if (Task* const task = waiter.task) {
    AwaitedRoom awaited(waiter);
    const WaitEnd end = wait(*task, awaited);
    room().lock.lock();
    if (end == WaitEnd::kOver) return order_hooks::acquire(&task->frame);
  }
  waiter.task = nullptr;
  room().lock.unlock();
  platform::wait(waiter.state, RoomWaiter::kWaits, platform::kForever);
  room().lock.lock();
}

bool wait_for_room_as(RoomWaiter& waiter, std::uint32_t calls) noexcept {
  LockGuard guard(room().lock);
  if (!enter_room(waiter, calls)) return false;
  if (room().calls.load(std::memory_order_seq_cst) == calls) wait_in_room(waiter);
  leave_room(waiter);
  return true;
}

}  // namespace

bool wait_for_room(Task* task, int fd, std::uint32_t calls) noexcept {
  RoomWaiter waiter{nullptr, fd, 0, task, RoomWaiter::kWaits};
  if (task == nullptr) return wait_for_room_as(waiter, calls);
  std::atomic<std::uint32_t>& waits = task->nursery->runtime->waits_outside;
  waits.fetch_add(1, std::memory_order_release);
  const bool has_waited = wait_for_room_as(waiter, calls);
  waits.fetch_sub(1, std::memory_order_release);
  return has_waited;
}

}  // namespace janus
