// SPDX-License-Identifier: Apache-2.0
// arch/hosted/stack_records.h — what sanitizers are told of one stack, while code runs on it or will come back to it.
#pragma once

#include <atomic>
#include <cstddef>

namespace janus::hosted {

struct StackRecord {
  const std::byte* limit;
  std::size_t bytes;
  void* fake_stack;  // frames that AddressSanitizer keeps elsewhere while no code runs here
  void* task_fiber;  // ThreadSanitizer's fiber of the innermost task that runs here; nullptr: none does
  // Where the code that will come back has left the stack; nullptr: code runs on it now.
  std::atomic<const std::byte*> left_at;
  // As far down as the leak checker has been shown the stack; nullptr: not at all.
  std::atomic<const std::byte*> shown_from;
  bool is_taken;
  StackRecord* next;  // links all records
  StackRecord* next_free;
};

StackRecord* take_stack_record(const std::byte* limit, std::size_t bytes) noexcept;
void give_stack_record(StackRecord* record) noexcept;
// The code that runs there leaves the stack, and will come back, to `at`.
void leave_stack(StackRecord& record, const std::byte* at) noexcept;

}  // namespace janus::hosted
