// SPDX-License-Identifier: Apache-2.0
// arch/hosted/stack_records.cpp — see stack_records.h. At the end of the process the leak checker is shown the stacks
// of tasks, which it does not find by itself: what only they point to is not lost.
#include "arch/hosted/stack_records.h"

#include <sys/mman.h>

#include <cstdlib>

#include "arch/hosted/sanitizers.h"
#include "rt/base/spinlock.h"
#include "rt/platform.h"

namespace janus::hosted {
namespace {

// Records are never given back to the machine: an exit while tasks run reads them all.
SpinLock lock;
StackRecord* all = nullptr;
StackRecord* spare = nullptr;

void show_to_leak_checker() noexcept {
  LockGuard guard(lock);
  for (const StackRecord* stack = all; stack != nullptr; stack = stack->next) {
    if (!stack->is_taken) continue;
    const std::byte* const low = stack->left_at != nullptr ? stack->left_at : stack->limit;
    __lsan_register_root_region(low, static_cast<std::size_t>(stack->limit + stack->bytes - low));
  }
}

// Under the lock. Pages that no heap knows of: the leak checker is not to find tasks' memory by way of them.
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
  *record = {limit, bytes, nullptr, nullptr, nullptr, true, record->next, nullptr};
  return record;
}

void give_stack_record(StackRecord* record) noexcept {
  LockGuard guard(lock);
  record->is_taken = false;
  record->next_free = spare;
  spare = record;
}

}  // namespace janus::hosted
