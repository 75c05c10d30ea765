// SPDX-License-Identifier: Apache-2.0
// rt/task/account/memory.h — blocks that an account pays for: the account of the allocating task, which is credited
// when any task frees the block. Outside tasks the root account pays. docs/decisions/0324, 0328
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

// The error says whether the budget or the machine ran out, or is -1: the task was told to end. `task` and `worker`
// nullptr: outside tasks.
OrError<void*> allocate(Runtime& runtime, Worker* worker, Task* task, std::size_t bytes, std::size_t align) noexcept;
// These two are given a user's address, which is not nullptr. If no user's block begins there, they change nothing and
// the task panics; outside tasks the program aborts.
OrError<void*> reallocate(Runtime& runtime, Worker* worker, Task* task, void* block, std::size_t bytes) noexcept;
void release(Runtime& runtime, Worker* worker, Task* task, void* block) noexcept;

// The usual cases of allocate() and release(), inlined. allocate_at_hand(): the worker has a free block, and enough
// memory in its chunk, or the cage's account has enough. nullptr: it is not the usual case, and nothing has changed.
// `bytes` is at most kMaxTabled. kIsCaged: of the task.
template <bool kIsCaged>
[[gnu::always_inline]] inline void* allocate_at_hand(Worker& worker, const Task& task, std::size_t bytes) noexcept {
  if (!Heap::kHasPages) return nullptr;
  if (bytes > kMaxTabled) __builtin_unreachable();
  if (kIsCaged && task.account->pays_for_pages()) return nullptr;
  Heap::List* list;
  Tag* its_tag;
  FreeBlock* const block = Heap::look_at_hand(worker.heap, bytes, list, its_tag);
  if (block == nullptr) [[unlikely]]
    return nullptr;
  const std::size_t paid = Heap::bytes_of(*list);
  if (!(kIsCaged ? Accounts::draw_below_root(task.account, paid) : worker.memory.draw_at_hand(paid))) [[unlikely]]
    return nullptr;
  return Heap::take_at_hand(*list, block, its_tag, kIsCaged ? task.account->index() : kRootIndex);
}
// Credits the account below the root that has paid for a block. `worker`: the caller's; nullptr: it has none in that
// runtime.
void credit_cage(Runtime& runtime, Worker* worker, std::size_t paid, std::uint32_t payer) noexcept;

// release_at_hand(): a user's small block, and the worker's cache has room. If it returns kOfCage, the root has not paid
// for the block, and the caller must call release_of_cage() with what was found; kToCut: cut_chunk(). This way nothing is
// called here, and the caller saves no registers.
enum class Released : std::uint8_t { kWhole, kToCut, kOfCage, kUnusual };
[[gnu::always_inline]] inline Released release_at_hand(Worker& worker, void* block, Heap::AtHand& found) noexcept {
  if (!Heap::kHasPages || !Heap::find_at_hand(worker.heap, block, found)) [[unlikely]]
    return Released::kUnusual;
  if (!arch::cmp_relaxed(*found.its_tag, kRootIndex)) [[unlikely]]
    return Released::kOfCage;
  if (!Heap::free_found(found, block, kRootIndex)) [[unlikely]]
    return Released::kUnusual;
  // Asked for anew, since a register less to keep is fewer to save.
  return current_worker().memory.credit_at_hand(Heap::bytes_of(*found.list)) ? Released::kWhole : Released::kToCut;
}
// False: it is not a block that an account below the root has paid for, and nothing has changed.
[[gnu::always_inline]] inline bool release_of_cage(Worker& worker, void* block, const Heap::AtHand& found) noexcept {
  const std::uint32_t payer = found.its_tag->load(std::memory_order_relaxed);
  if (holder_of(payer) != Holder::kUser || !Heap::free_found(found, block, payer)) [[unlikely]]
    return false;
  credit_cage(*worker.runtime, &worker, Heap::bytes_of(*found.list), payer);
  return true;
}
void cut_chunk(Worker& worker) noexcept;

// As allocate(), for a block that the runtime holds on the task's behalf, so that no user can free it.
OrError<void*> allocate_own(Runtime& runtime, Worker* worker, Task* task, std::size_t bytes) noexcept;
// As allocate_own(), but returns nullptr if `payer` cannot pay, instead of waiting or ending a task.
void* try_allocate_own(Runtime& runtime, Worker* worker, Account* payer, std::size_t bytes) noexcept;
void release_own(Runtime& runtime, Worker* worker, void* block) noexcept;
// As release_own(), on behalf of the running `task`, which lets others run if it takes long.
void release_in_parts(Runtime& runtime, Task& task, void* block) noexcept;

}  // namespace janus
