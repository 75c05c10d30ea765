// SPDX-License-Identifier: Apache-2.0
// arch/hosted/stack_records.cpp — see stack_records.h. At the end of the process the stacks of tasks are registered
// with the leak checker, which does not find them by itself: a block that only a stack points to is not lost.
#include "arch/hosted/stack_records.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>

#include "arch/hosted/sanitizers.h"
#include "rt/base/spinlock.h"
#include "rt/platform.h"

namespace janus::hosted {
namespace {

// The memory of records is never unmapped: an exit while tasks run reads all of them.
SpinLock lock;
StackRecord* all = nullptr;
StackRecord* spare = nullptr;
// Once set, every switch away from a stack shows that stack to the leak checker: tasks run until the process is gone.
std::atomic<bool> is_shown = false;

// Shows the leak checker the stack from `low` to its top, unless it was shown from there or from further down before.
void show_from(StackRecord& stack, const std::byte* low) noexcept {
  const std::byte* const top = stack.limit + stack.bytes;
  const std::byte* const so_far = stack.shown_from.exchange(low, std::memory_order_relaxed);
  if (so_far != nullptr && so_far <= low)
    stack.shown_from.store(so_far, std::memory_order_relaxed);
  else
    __lsan_register_root_region(low, static_cast<std::size_t>(top - low));
}

// Shows every taken stack from where it was left; a stack on which code runs now is shown as a whole.
void show_to_leak_checker() noexcept {
  LockGuard guard(lock);
  is_shown.store(true, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // partner: leave_stack()
  for (StackRecord* stack = all; stack != nullptr; stack = stack->next) {
    if (!stack->is_taken) continue;
    const std::byte* const left_at = stack->left_at.load(std::memory_order_relaxed);
    show_from(*stack, left_at != nullptr ? left_at : stack->limit);
  }
}

// Called under the lock. Uses pages of its own, not the heap: the leak checker must not find tasks' memory by way of
// the records.
bool make_more() noexcept {
  constexpr std::size_t kBytes = 65536;
  void* const pages = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return false;
  auto* const records = static_cast<StackRecord*>(pages);
  for (std::size_t i = 0; i < kBytes / sizeof *records; ++i) {
    records[i].next = all;
    records[i].next_free = spare;
    all = spare = &records[i];
  }
  return true;
}

}  // namespace

StackRecord* take_stack_record(const std::byte* limit, std::size_t bytes) noexcept {
  LockGuard guard(lock);
  if (all == nullptr && __lsan_register_root_region != nullptr) std::atexit(show_to_leak_checker);
  if (spare == nullptr && !make_more()) platform::abort();
  StackRecord* const record = spare;
  spare = record->next_free;
  if (record->limit != limit || record->bytes != bytes) record->shown_from.store(nullptr, std::memory_order_relaxed);
  record->limit = limit;
  record->bytes = bytes;
  record->fake_stack = record->task_fiber = nullptr;
  record->left_at.store(nullptr, std::memory_order_relaxed);
  record->is_taken = true;
  return record;
}

void give_stack_record(StackRecord* record) noexcept {
  LockGuard guard(lock);
  record->is_taken = false;
  record->next_free = spare;
  spare = record;
}

void leave_stack(StackRecord& record, const std::byte* at) noexcept {
  record.left_at.store(at, std::memory_order_relaxed);
  if (__lsan_register_root_region == nullptr) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);  // partner: show_to_leak_checker()
  if (is_shown.load(std::memory_order_relaxed)) show_from(record, at);
}

}  // namespace janus::hosted
