// SPDX-License-Identifier: Apache-2.0
// arch/hosted/stack_records.h — the records of the stacks that sanitizers know: those on which code runs or to which
// code will return.
#pragma once

#include <atomic>
#include <cstddef>

namespace janus::hosted {

struct StackRecord {
  const std::byte* limit;
  std::size_t bytes;
  void* fake_stack;  // frames that AddressSanitizer keeps elsewhere while no code runs here
  void* task_fiber;  // ThreadSanitizer's fiber of the innermost task that runs here; nullptr: none does
  // The stack pointer at which code left the stack, to return later; nullptr while code runs on it.
  std::atomic<const std::byte*> left_at;
  // The lowest address from which the leak checker was shown the stack; nullptr: it was not shown.
  std::atomic<const std::byte*> shown_from;
  bool is_taken;
  StackRecord* next;  // links all records
  StackRecord* next_free;
};

StackRecord* take_stack_record(const std::byte* limit, std::size_t bytes) noexcept;
void give_stack_record(StackRecord* record) noexcept;
// Called when the code that runs on the stack leaves it, to return later to `at`.
void leave_stack(StackRecord& record, const std::byte* at) noexcept;

}  // namespace janus::hosted
