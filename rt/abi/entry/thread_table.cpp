// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/thread_table.cpp — see thread_table.h.
#include "rt/abi/entry/thread_table.h"

#include <arch/worker_slot.h>

#include "rt/base/lock_rank.h"
#include "rt/include/janus/rt.h"

namespace janus {

namespace {

// The data of a thread outside tasks. Threads are identified by their thread pointer.
struct ThreadEntry {
  const void* thread;
  Nursery* current;
  LastError last_error;
};
// Other threads may reuse the entry of a thread that has no nursery open. A thread that ends with one open does
// not free its entry.
constexpr unsigned kThreads = 64;
RankedLock<LockRank::kThreads> threads_lock;
constinit ThreadEntry threads[kThreads] = {};

// Under threads_lock. nullptr: all entries are taken.
[[gnu::noinline]] ThreadEntry* entry_of_thread() noexcept {
  const void* const me = arch::thread_pointer();
  ThreadEntry* spare = nullptr;
  for (ThreadEntry& entry : threads) {
    if (entry.thread == me) return &entry;
    if (entry.current == nullptr && (spare == nullptr || spare->thread != nullptr)) spare = &entry;
  }
  if (spare != nullptr) *spare = {me, nullptr, {}};
  return spare;
}

}  // namespace

[[gnu::noinline]] Nursery* current_of_thread() noexcept {
  LockGuard guard(threads_lock);
  const ThreadEntry* const entry = entry_of_thread();
  return entry != nullptr ? entry->current : nullptr;
}

bool push_current_of_thread(Nursery& nursery) noexcept {
  LockGuard guard(threads_lock);
  ThreadEntry* const entry = entry_of_thread();
  if (entry == nullptr) return false;
  nursery.traits.scope = NurseryTraits::kScoped;
  std::atomic_ref(nursery.previous_current).store(entry->current, std::memory_order_relaxed);  // see Nursery::news
  entry->current = &nursery;
  return true;
}

Nursery* pop_current_of_thread() noexcept {
  LockGuard guard(threads_lock);
  ThreadEntry* const entry = entry_of_thread();
  if (entry == nullptr || entry->current == nullptr) return nullptr;
  Nursery* const nursery = entry->current;
  entry->current = nursery->previous_current;
  return nursery;
}

void set_error_of_thread(LastError error) noexcept {
  LockGuard guard(threads_lock);
  if (ThreadEntry* const entry = entry_of_thread()) entry->last_error = error;
}

LastError last_error_of_thread() noexcept {
  LockGuard guard(threads_lock);
  const ThreadEntry* const entry = entry_of_thread();
  return entry != nullptr ? entry->last_error : LastError{JANUS_E_NO_MEMORY, 0};  // 64 threads have nurseries open
}

}  // namespace janus
