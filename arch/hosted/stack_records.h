// SPDX-License-Identifier: Apache-2.0
// arch/hosted/stack_records.h — what sanitizers are told of one stack, as long as somebody stands on it or will again.
#pragma once

#include <cstddef>

namespace janus::hosted {

struct StackRecord {
  const std::byte* limit;
  std::size_t bytes;
  void* fake_stack;          // frames that AddressSanitizer keeps elsewhere while nobody stands here
  void* task_fiber;          // what ThreadSanitizer calls the innermost task that stands here; nullptr: none does
  const std::byte* left_at;  // where whoever will come back has left it; nullptr: somebody stands there now
  bool is_taken;
  StackRecord* next;  // of all there are
  StackRecord* next_free;
};

StackRecord* take_stack_record(const std::byte* limit, std::size_t bytes) noexcept;
void give_stack_record(StackRecord* record) noexcept;

}  // namespace janus::hosted
