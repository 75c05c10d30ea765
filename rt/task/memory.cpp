// SPDX-License-Identifier: Apache-2.0
// rt/task/memory.cpp — the heap behind a budget: reserve, then allocate; what fails is refunded.
#include "rt/task/memory.h"

#include "rt/task/charge.h"

namespace janus {

namespace {

HeapCache* cache_of(Worker* worker) noexcept {
  return worker != nullptr ? &worker->heap : nullptr;
}

// The worker's chunk of memory, which its owner makes known when it is first used.
MemoryCache* memory_cache_of(Runtime& runtime, Worker* worker) noexcept {
  if (worker == nullptr) return nullptr;
  if (!worker->memory.is_registered()) [[unlikely]]
    runtime.accounts.register_cache(worker->memory);
  return &worker->memory;
}

// 0: it is worth another try. What idle stacks hold of the root's memory is not in the way of blocks.
[[gnu::noinline, gnu::cold]] int make_room(Runtime& runtime, Task* task, Account* payer, std::uint64_t bytes) noexcept {
  if (payer == runtime.root_account && runtime.pool_charge.reclaim()) return 0;
  if (task == nullptr) return kErrorBudget;
  if (!runtime.accounts.granted(payer, Component::kMemory)) return kErrorNoCap;
  return exhausted(*task, Component::kMemory, bytes);
}

// 0, or why not. A task may have to wait here; it comes back on any worker.
int reserve(Runtime& runtime, Worker*& worker, Task* task, std::uint64_t bytes) noexcept {
  Account* const payer = task != nullptr ? task->account : runtime.root_account;
  while (!runtime.accounts.draw_memory(memory_cache_of(runtime, worker), payer, bytes)) {
    const int answer = make_room(runtime, task, payer, bytes);
    if (answer != 0) return answer;
    if (task != nullptr) worker = &current_worker();
  }
  return 0;
}

}  // namespace

void* allocate(Runtime& runtime, Worker* worker, Task* task, std::size_t bytes, std::size_t align,
               int* error) noexcept {
  const std::uint64_t charge = Heap::charge_for(bytes, align);
  if (charge == 0) return *error = kErrorNoMemory, nullptr;
  *error = reserve(runtime, worker, task, charge);
  if (*error != 0) return nullptr;
  Account* const payer = task != nullptr ? task->account : runtime.root_account;
  void* const block = runtime.heap.allocate(cache_of(worker), bytes, align, payer->index());
  if (block != nullptr) return block;
  runtime.accounts.credit_memory(memory_cache_of(runtime, worker), payer, charge);
  return *error = kErrorNoMemory, nullptr;
}

void release(Runtime& runtime, Worker* worker, void* block) noexcept {
  const Heap::Freed freed = runtime.heap.free(cache_of(worker), block);  // does not come back from what is no block
  runtime.accounts.credit_memory(memory_cache_of(runtime, worker), runtime.accounts.at(freed.tag), freed.bytes);
}

void* reallocate(Runtime& runtime, Worker* worker, Task* task, void* block, std::size_t bytes, int* error) noexcept {
  if (block == nullptr) return allocate(runtime, worker, task, bytes, 16, error);
  const std::size_t before = runtime.heap.size_of(block);
  if (before == 0) return *error = kErrorInvalid, nullptr;
  // In place only where that changes no charge: whoever holds the block is not always who pays for it.
  if (bytes <= before && bytes >= before / 2) return block;
  void* const moved = allocate(runtime, worker, task, bytes, 16, error);
  if (moved == nullptr) return nullptr;
  __builtin_memcpy(moved, block, before < bytes ? before : bytes);
  release(runtime, task != nullptr ? &current_worker() : worker, block);
  return moved;
}

}  // namespace janus
