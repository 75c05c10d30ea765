// SPDX-License-Identifier: Apache-2.0
// static_guard.cpp: who initialises a function-local static, and who waits for it (__cxa_guard_*, Itanium C++ ABI).
// A task that comes second parks; its worker goes on. The compiler looks at the guard's first byte and calls only while
// it is 0; the rest of the guard is ours.
#include <janus/rt.h>

#include <atomic>
#include <cstdint>

namespace {

using Guard = std::atomic<std::uint64_t>;
static_assert(sizeof(Guard) == 8 && Guard::is_always_lock_free);

// kUntouched --claim--> owner's id << 8 --release--> kDone, or --abort--> kUntouched again.
constexpr std::uint64_t kUntouched = 0;
constexpr std::uint64_t kDone = 1;

// Task ids count from 1; threads outside tasks share one that no task reaches.
constexpr std::uint64_t kOutsideTasks = std::uint64_t{1} << 55;

std::uint64_t claim_of_caller() noexcept {
  const std::uint64_t id = janus_task_id();
  return (id == 0 ? kOutsideTasks : id) << 8;
}

// One who waits, on its own stack, in the list of all who wait for any guard: statics are initialised once, so that
// the list is short and seldom touched.
struct Waiter {
  const Guard* guard;
  janus_task task;
  Waiter* next;
  std::atomic<bool> woken{false};
};

// INVARIANT no-lost-waiter: whoever finds the guard claimed while holding `lock` is in the list before the claim is
// given up, because giving it up takes the lock as well.
std::atomic<bool> lock{false};
Waiter* waiters = nullptr;

class Locked {
 public:
  // Held for a few instructions, never across a call that blocks. A holder may have lost its CPU: let others run.
  Locked() noexcept {
    while (lock.exchange(true, std::memory_order_acquire)) janus_yield();  // pairs with the release below
  }
  ~Locked() { lock.store(false, std::memory_order_release); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

// Waits until `guard` is no longer claimed by the one who held it. A token that was somebody else's for this task is
// put back, since tasks build their own locks on it.
void wait_for(const Guard& guard) noexcept {
  Waiter self{&guard, janus_task_self(), nullptr};
  {
    const Locked held;
    if ((guard.load(std::memory_order_relaxed) >> 8) == 0) return;
    self.next = waiters;
    waiters = &self;
  }
  int tokens = 0;
  while (!self.woken.load(std::memory_order_acquire)) {  // pairs with wake_waiters
    const int parked = janus_park(-1);
    if (parked == 0) tokens++;
    // A cancelled task does not park, and must still wait: its stack is in the list.
    if (parked < 0) janus_yield();
  }
  if (tokens > 1) janus_unpark(self.task);
}

Waiter* take_waiters(const Guard& guard) noexcept {
  Waiter* taken = nullptr;
  for (Waiter** at = &waiters; *at != nullptr;) {
    Waiter* const waiter = *at;
    if (waiter->guard != &guard) {
      at = &waiter->next;
      continue;
    }
    *at = waiter->next;
    waiter->next = taken;
    taken = waiter;
  }
  return taken;
}

void give_up_claim(Guard& guard, std::uint64_t value) noexcept {
  Waiter* woken;
  {
    const Locked held;
    guard.store(value, std::memory_order_release);  // pairs with the acquire loads of the compiler and below
    woken = take_waiters(guard);
  }
  while (woken != nullptr) {
    // Read first: once `woken` is set, the waiter's stack may be gone. An unpark of a task that has ended is an error
    // that nobody needs to hear of.
    Waiter* const next = woken->next;
    const janus_task task = woken->task;
    woken->woken.store(true, std::memory_order_release);
    janus_unpark(task);
    woken = next;
  }
}

}  // namespace

extern "C" {

int __cxa_guard_acquire(Guard* guard) noexcept {
  const std::uint64_t claim = claim_of_caller();
  for (;;) {
    std::uint64_t seen = kUntouched;
    if (guard->compare_exchange_strong(seen, claim, std::memory_order_acquire)) return 1;
    if (seen == kDone) return 0;
    if (seen == claim) janus_task_panic("a function-local static needs itself for its initialisation");
    wait_for(*guard);
  }
}

void __cxa_guard_release(Guard* guard) noexcept {
  give_up_claim(*guard, kDone);
}
void __cxa_guard_abort(Guard* guard) noexcept {
  give_up_claim(*guard, kUntouched);
}

}  // extern "C"
