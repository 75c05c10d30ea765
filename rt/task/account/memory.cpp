// SPDX-License-Identifier: Apache-2.0
// rt/task/account/memory.cpp — allocation within a budget: reserves, allocates, refunds on failure.
#include "rt/task/account/memory.h"

#include "rt/base/format.h"
#include "rt/mem/pages.h"
#include "rt/task/account/cage_pages.h"
#include "rt/task/account/charge.h"
#include "rt/task/record/panic.h"
#include "rt/task/wait/ancestry.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

HeapCache* cache_of(Worker* worker) noexcept {
  return worker != nullptr ? &worker->heap : nullptr;
}

// The worker's chunk of memory, which the worker registers when it is first used.
MemoryCache* memory_cache_of(Runtime& runtime, Worker* worker) noexcept {
  if (worker == nullptr) return nullptr;
  if (!worker->memory.is_registered()) [[unlikely]]
    runtime.accounts.register_cache(worker->memory);
  return &worker->memory;
}

// A block that is a mapping of its own begins at a page boundary; few others do.
[[gnu::always_inline]] inline bool may_be_mapping(const void* block) noexcept {
  return reinterpret_cast<std::uintptr_t>(block) % kPageBytes == 0;
}

// Called when `payer` could not pay for `bytes`: unmaps idle stacks if that may help, or waits for budget. 0: the
// bytes are paid for now; otherwise the error.
[[gnu::noinline, gnu::cold]] int reserve_slow(Runtime& runtime, Worker* worker, Task* task, Account* payer,
                                              std::uint64_t bytes) noexcept {
  while (payer == runtime.root_account && runtime.pool_charge.reclaim())
    if (runtime.accounts.draw_memory(memory_cache_of(runtime, worker), payer, bytes)) return 0;
  return task != nullptr ? charge_waiting(*task, Component::kMemory, bytes) : with_why(kErrorBudget, Why::kMemory);
}

void charge_copy(Task& task, std::size_t bytes) noexcept {
  for (; bytes > price::kBytesAtOnce; bytes -= price::kBytesAtOnce) (void)charge_bytes(task, price::kBytesAtOnce);
  (void)charge_bytes(task, bytes);
}

void copy_in_parts(Task* task, std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  for (; bytes > price::kBytesAtOnce; bytes -= price::kBytesAtOnce) {
    __builtin_memcpy(to, from, price::kBytesAtOnce);
    to += price::kBytesAtOnce;
    from += price::kBytesAtOnce;
    if (task != nullptr) let_others_run(*task);
  }
  __builtin_memcpy(to, from, bytes);
}

// --- Misuse of free and realloc ---

enum class Request : std::uint8_t { kFree, kResize };

const char* why_not(Request request, Misuse misuse) noexcept {
  switch (misuse) {
    case Misuse::kNone:
      break;
    case Misuse::kFreed:
      return request == Request::kFree ? "double free of %p" : "realloc of %p, which was freed before";
    case Misuse::kNoBlock:
      return request == Request::kFree ? "free of %p, where no block begins" : "realloc of %p, where no block begins";
    case Misuse::kRuntimes:
      return request == Request::kFree ? "free of %p, which is the runtime's own"
                                       : "realloc of %p, which is the runtime's own";
  }
  return "misuse of %p";
}

// Called with no lock held and nothing changed.
[[noreturn, gnu::noinline, gnu::cold]] void end_for_misuse(Task* task, Request request, const void* block,
                                                           Misuse misuse) noexcept {
  Text<96> why;
  why.append(why_not(request, misuse), block);
  if (task != nullptr) panic(*task, Cause::kMisuse, why.data());
  Text<128> line;
  line.append("janus: %s, outside tasks\n", why.data());
  (void)!platform::write(2, line.data(), line.size());
  platform::abort();
}

// Allocates a block for which `payer` has paid `plan.bytes`; refunds them on failure.
[[gnu::always_inline]] inline void* allocate_paid(Runtime& runtime, Worker* worker, Account* payer,
                                                  const Heap::Plan& plan, std::size_t align,
                                                  std::uint32_t holder_bit) noexcept {
  void* const block = runtime.heap.allocate(cache_of(worker), plan, align, payer->index() | holder_bit);
  if (block == nullptr) [[unlikely]]
    runtime.accounts.credit_memory(memory_cache_of(runtime, worker), payer, plan.bytes);
  return block;
}

// `holder_bit`: 0 or kRuntimeTag.
[[gnu::always_inline]] inline OrError<void*> allocate_for(std::uint32_t holder_bit, Runtime& runtime, Worker* worker,
                                                          Task* task, std::size_t bytes, std::size_t align) noexcept {
  Heap::Plan plan = Heap::plan_for(bytes, align);
  Heap::note_asked(plan, bytes);
  if (plan.bytes == 0) return Failed{kErrorNoMemory};
  Account* const payer = task != nullptr ? task->account : runtime.root_account;
  if (Heap::kHasPages && holder_bit == 0 && payer->pays_for_pages()) [[unlikely]]
    return allocate_in_pages(runtime, *task, plan, align);
  if (!runtime.accounts.draw_memory(memory_cache_of(runtime, worker), payer, plan.bytes)) [[unlikely]] {
    if (const int error = reserve_slow(runtime, worker, task, payer, plan.bytes)) return Failed{error};
    if (task != nullptr) worker = &current_worker();  // it may have waited
  }
  void* const block = allocate_paid(runtime, worker, payer, plan, align, holder_bit);
  if (block == nullptr) [[unlikely]]
    return Failed{kErrorNoMemory};
  return block;
}

// Charges the walk from a closed account up to the first open one, to which the memory goes. Freeing costs nothing
// else. The walk is charged because the tasks that open budgets decide its length.
[[gnu::noinline, gnu::cold]] void pay_for_walk_from(const Account* closed) noexcept {
  PaidWalk walk;
  for (; closed->is_closed(); closed = closed->parent()) walk.step();
}

void credit(Runtime& runtime, Worker* worker, const Heap::Found& freed) noexcept {
  if (freed.bytes == 0) [[unlikely]]
    return offer_idle_block(runtime, freed.tag);
  if (freed.tag != kRootIndex) return credit_cage(runtime, worker, freed.bytes, freed.tag);
  runtime.accounts.credit_memory(memory_cache_of(runtime, worker), runtime.root_account, freed.bytes);
}

}  // namespace

[[gnu::noinline]] void credit_cage(Runtime& runtime, Worker* worker, std::size_t paid, std::uint32_t payer) noexcept {
  Account* const account = runtime.accounts.at(payer);
  if (worker != nullptr && account->is_closed()) [[unlikely]]
    pay_for_walk_from(account);
  runtime.accounts.credit_below_root(account, paid);
}

[[gnu::noinline, gnu::cold]] void cut_chunk(Worker& worker) noexcept {
  worker.runtime->accounts.cut(worker.memory);
}

OrError<void*> allocate(Runtime& runtime, Worker* worker, Task* task, std::size_t bytes, std::size_t align) noexcept {
  return allocate_for(0, runtime, worker, task, bytes, align);
}

[[gnu::cold]] OrError<void*> allocate_own(Runtime& runtime, Worker* worker, Task* task, std::size_t bytes) noexcept {
  if (task != nullptr && price_of_block(bytes) != 0) {
    (void)charge_ops(*task, price_of_block(bytes));
    worker = &current_worker();
  }
  return allocate_for(kRuntimeTag, runtime, worker, task, bytes, kMinBlock);
}

[[gnu::cold]] void* try_allocate_own(Runtime& runtime, Worker* worker, Account* payer, std::size_t bytes) noexcept {
  Heap::Plan plan = Heap::plan_for(bytes, kMinBlock);
  Heap::note_asked(plan, bytes);
  if (plan.bytes == 0) return nullptr;
  if (!runtime.accounts.draw_memory(memory_cache_of(runtime, worker), payer, plan.bytes)) return nullptr;
  return allocate_paid(runtime, worker, payer, plan, kMinBlock, kRuntimeTag);
}

namespace {

[[gnu::noinline, gnu::cold]] void release_whole(Runtime& runtime, Worker* worker, Task* task, void* block) noexcept {
  const Heap::Found freed = runtime.heap.free(cache_of(worker), block);
  if (freed.tag == kFreeTag) [[unlikely]]
    end_for_misuse(task, Request::kFree, block, freed.misuse);
  credit(runtime, worker, freed);
}

[[gnu::noinline]] void release_page_aligned(Runtime& runtime, Worker* worker, Task* task, void* block) noexcept {
  if (task == nullptr || runtime.heap.is_in_chunks(block) || runtime.heap.look_at(block).bytes <= price::kFreedAtOnce)
    return release_whole(runtime, worker, task, block);
  const Heap::Found held = runtime.heap.take_over(block);
  if (held.misuse != Misuse::kNone) end_for_misuse(task, Request::kFree, block, held.misuse);
  release_in_parts(runtime, *task, block);
}

}  // namespace

void release(Runtime& runtime, Worker* worker, Task* task, void* block) noexcept {
  if (may_be_mapping(block)) [[unlikely]]
    return release_page_aligned(runtime, worker, task, block);
  release_whole(runtime, worker, task, block);
}

// In parts, since the kernel's time grows with the number of touched pages.
[[gnu::noinline, gnu::cold]] void release_in_parts(Runtime& runtime, Task& task, void* block) noexcept {
  const std::size_t bytes = runtime.heap.size_of(block);
  auto* pages = static_cast<std::byte*>(block);
  for (std::size_t rest = Heap::kHasPages && may_be_mapping(block) ? bytes : 0; rest > price::kFreedAtOnce;
       rest -= price::kFreedAtOnce) {
    platform::discard(pages, price::kFreedAtOnce);
    pages += price::kFreedAtOnce;
    let_others_run(task);
  }
  release_own(runtime, &current_worker(), block);
}

[[gnu::cold]] void release_own(Runtime& runtime, Worker* worker, void* block) noexcept {
  credit(runtime, worker, runtime.heap.free_own(cache_of(worker), block));
}

[[gnu::cold]] OrError<void*> reallocate(Runtime& runtime, Worker* worker, Task* task, void* block,
                                        std::size_t bytes) noexcept {
  const Heap::Found before = runtime.heap.look_at(block);
  if (before.misuse != Misuse::kNone) end_for_misuse(task, Request::kResize, block, before.misuse);
  // Resizes in place only if the charge stays the same: the calling task is not always the payer of the block.
  if (Heap::kHasPages && bytes <= before.bytes && bytes >= before.bytes / 2) return block;
  if (task != nullptr) {  // before any memory is reserved
    charge_copy(*task, before.bytes < bytes ? before.bytes : bytes);
    (void)charge_ops(*task, price_of_block(bytes));
    worker = &current_worker();
  }
  const OrError<void*> allocated = allocate(runtime, worker, task, bytes, kMinBlock);
  if (!allocated) return allocated;
  void* const moved = allocated.value;
  if (task != nullptr) worker = &current_worker();
  // Makes the old block the runtime's own, so that no task can free it during the copy. If the new block has the same
  // address, the old one was freed meanwhile.
  Heap::Found old{0, kFreeTag, Misuse::kFreed};
  if (moved != block) old = runtime.heap.take_over(block);
  if (old.misuse != Misuse::kNone) {
    release(runtime, worker, task, moved);
    end_for_misuse(task, Request::kResize, block, old.misuse);
  }
  const std::size_t readable = runtime.heap.readable(block, old.bytes);
  copy_in_parts(task, static_cast<std::byte*>(moved), static_cast<const std::byte*>(block),
                readable < bytes ? readable : bytes);
  if (task != nullptr)
    release_in_parts(runtime, *task, block);
  else
    release_own(runtime, worker, block);
  return moved;
}

}  // namespace janus
