// SPDX-License-Identifier: Apache-2.0
// rt/task/account/memory.h — blocks that an account pays for: the account of the allocating task, which is credited
// when any task frees the block. Outside tasks the root account pays.
#pragma once

#include <cstddef>

#include "rt/base/or_error.h"
#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"

namespace janus {

// The price of a block in ops, in addition to the call.
inline std::int64_t price_of_block(std::size_t bytes) noexcept {
  return bytes <= Heap::kMaxLarge ? 0 : price::kMapping;
}

// The error says whether the budget or the machine ran out. `task` and `worker` nullptr: outside tasks.
OrError<void*> allocate(Runtime& runtime, Worker* worker, Task* task, std::size_t bytes, std::size_t align) noexcept;
// These two are given a user's address, which is not nullptr. If no user's block begins there, they change nothing and
// the task panics; outside tasks the program aborts.
OrError<void*> reallocate(Runtime& runtime, Worker* worker, Task* task, void* block, std::size_t bytes) noexcept;
void release(Runtime& runtime, Worker* worker, Task* task, void* block) noexcept;

// As allocate(), for a block that the runtime holds on the task's behalf, so that no user can free it.
OrError<void*> allocate_own(Runtime& runtime, Worker* worker, Task* task, std::size_t bytes) noexcept;
// As allocate_own(), but returns nullptr if `payer` cannot pay, instead of waiting or ending a task.
void* try_allocate_own(Runtime& runtime, Worker* worker, Account* payer, std::size_t bytes) noexcept;
void release_own(Runtime& runtime, Worker* worker, void* block) noexcept;
// As release_own(), on behalf of the running `task`, which lets others run if it takes long.
void release_in_parts(Runtime& runtime, Task& task, void* block) noexcept;

}  // namespace janus
