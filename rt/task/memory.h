// SPDX-License-Identifier: Apache-2.0
// rt/task/memory.h — blocks that somebody pays for: charged to the account of the task that asks, credited there when
// freed, by whomever. Outside tasks the root account pays.
#pragma once

#include <cstddef>

#include "rt/task/price.h"
#include "rt/task/runtime.h"

namespace janus {

// What a block costs beside the call, in ops.
inline std::int64_t price_of_block(std::size_t bytes) noexcept {
  return bytes <= Heap::kMaxLarge ? 0 : price::kMapping;
}

// nullptr: *error says whether it was the budget or the machine. `task` and `worker` nullptr: outside tasks.
void* allocate(Runtime& runtime, Worker* worker, Task* task, std::size_t bytes, std::size_t align, int* error) noexcept;
// These two are told a user's address, not nullptr. What is not a user's block is the task's panic, with
// nothing changed; outside tasks, where there is nobody to blame but the program, its end.
void* reallocate(Runtime& runtime, Worker* worker, Task* task, void* block, std::size_t bytes, int* error) noexcept;
void release(Runtime& runtime, Worker* worker, Task* task, void* block) noexcept;

// The same for a block that the runtime holds on the task's behalf, so that no user can free it.
void* allocate_own(Runtime& runtime, Worker* worker, Task* task, std::size_t bytes, int* error) noexcept;
// The same where `payer` is neither waited for nor ended for what it cannot pay: nullptr then.
void* try_allocate_own(Runtime& runtime, Worker* worker, Account* payer, std::size_t bytes) noexcept;
void release_own(Runtime& runtime, Worker* worker, void* block) noexcept;
// The same in the middle of what `task` does: others run meanwhile if it takes long.
void release_in_parts(Runtime& runtime, Task& task, void* block) noexcept;

}  // namespace janus
