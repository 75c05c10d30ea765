// SPDX-License-Identifier: Apache-2.0
// arch/hosted/stack_records.h — what sanitizers are told of one stack, as long as somebody stands on it or will again.
#pragma once

#include <atomic>
#include <cstddef>

namespace janus::hosted {

struct StackRecord {
  const std::byte* limit;
  std::size_t bytes;
  void* fake_stack;  // frames that AddressSanitizer keeps elsewhere while nobody stands here
  void* task_fiber;  // what ThreadSanitizer calls the innermost task that stands here; nullptr: none does
  // Where whoever will come back has left it; nullptr: somebody stands there now.
  std::atomic<const std::byte*> left_at;
  // As much of it as the leak checker has been shown; nullptr: nothing.
  std::atomic<const std::byte*> shown_from;
  bool is_taken;
  StackRecord* next;  // of all there are
  StackRecord* next_free;
};

StackRecord* take_stack_record(const std::byte* limit, std::size_t bytes) noexcept;
void give_stack_record(StackRecord* record) noexcept;
// Whoever stands there will come back, to `at`.
void leave_stack(StackRecord& record, const std::byte* at) noexcept;

}  // namespace janus::hosted
