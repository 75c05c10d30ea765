// SPDX-License-Identifier: Apache-2.0
// rt/abi/memory.cpp — blocks of memory. docs/decisions/0324, 0328
#include "rt/task/account/memory.h"
#include "rt/abi/entry/entry.h"

namespace janus {

namespace {

constexpr std::size_t kMaxAlign = std::size_t{1} << 20;

void* refuse(int error) noexcept {
  set_error(enter(), error);
  return nullptr;
}

// The runtime that allocates the caller's blocks. nullptr: there is none; sets the caller's last error.
Runtime* runtime_of_blocks(const Caller& me) noexcept {
  Runtime* const runtime = runtime_or_own(nullptr, me);
  if (runtime == nullptr) set_error(me, with_why(JANUS_E_STATE, Why::kNoRuntime));
  return runtime;
}

// charge() has already set the last error of a task whose budget refused the block, with the amount left.
[[gnu::noinline, gnu::cold]] void* refuse_block(const Runtime& runtime, int error) noexcept {
  const Caller me = enter_free();
  const bool is_kept = me.task != nullptr && (error == JANUS_E_BUDGET || error == JANUS_E_NO_CAP);
  if (!is_kept) set_error_left(me, &runtime, runtime.root_account, error);
  return nullptr;
}

[[gnu::noinline, gnu::cold]] void charge_block(std::size_t size) noexcept {
  (void)enter(price_of_block(size));
}

// For a caller that has paid for the call.
[[gnu::always_inline]] inline void* allocate_prepaid(Runtime& runtime, const Caller& me, std::size_t size,
                                                     std::size_t align) noexcept {
  const OrError<void*> block = allocate(runtime, worker_in(runtime, me), me.task, size, align);
  return block ? block.value : refuse_block(runtime, block.error);
}

// Not inlined, so that all callers jump to one copy.
[[gnu::noinline]] void* allocate_for(std::size_t size, std::size_t align) noexcept {
  if (price_of_block(size) != 0) [[unlikely]]
    charge_block(size);
  const Caller me = enter();
  Runtime* const runtime = runtime_of_blocks(me);
  if (runtime == nullptr) return nullptr;
  return allocate_prepaid(*runtime, me, size, align);
}

// As allocate_for(), which charges for the call, for a caller that has already paid.
[[gnu::noinline, gnu::cold]] void* allocate_again(std::size_t size, Worker* worker, Task* task) noexcept {
  return allocate_prepaid(*worker->runtime, {worker, task}, size, kMinBlock);
}

// For a caller that has paid for the call. Precondition: `size` is at most kMaxTabled.
template <bool kIsCaged>
[[gnu::always_inline]] inline void* allocate_small(std::size_t size, Worker* worker, Task* task) noexcept {
  void* const block = allocate_at_hand<kIsCaged>(*worker, *task, size);
  if (block == nullptr) [[unlikely]]
    return allocate_again(size, worker, task);
  return block;
}

// Not inlined, so that paying takes no registers from tasks in no cage.
[[gnu::noinline]] void* allocate_in_cage(std::size_t size, Worker* worker, Task* task) noexcept {
  return allocate_small<true>(size, worker, task);
}

[[gnu::noinline, gnu::cold]] void free_unusual(void* block) noexcept {
  if (block == nullptr) return;
  const Caller me = enter_free();
  if (Runtime* const runtime = runtime_or_own(nullptr, me)) release(*runtime, worker_in(*runtime, me), me.task, block);
}

// What was found comes in registers. Not inlined, so that janus_free saves none for the call.
[[gnu::noinline]] void free_of_cage(void* block, Heap::List* list, Tag* its_tag,
                                    const std::atomic<PageEntry>* its_entry, PageEntry entry,
                                    std::uint64_t tag_index) noexcept {
  if (!release_of_cage(current_worker(), block, {list, its_tag, its_entry, entry, tag_index})) [[unlikely]]
    free_unusual(block);
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" {

void* janus_alloc(size_t size) {
  if (size > kMaxTabled) [[unlikely]]
    return allocate_for(size, kMinBlock);
  const Caller me = enter_fast();
  if (me.task == nullptr) [[unlikely]]
    return allocate_for(size, kMinBlock);
  if (me.task->is_caged()) [[unlikely]]
    return allocate_in_cage(size, me.worker, me.task);
  return allocate_small<false>(size, me.worker, me.task);
}

void* janus_alloc_aligned(size_t align, size_t size) {
  if (align == 0 || (align & (align - 1)) != 0 || align > kMaxAlign)
    return refuse(with_why(JANUS_E_INVALID, Why::kAlign));
  return allocate_for(size, align);
}

void* janus_realloc(void* block, size_t size) {
  if (block == nullptr) return allocate_for(size, kMinBlock);
  const Caller me = enter();
  Runtime* const runtime = runtime_of_blocks(me);
  if (runtime == nullptr) return nullptr;
  const OrError<void*> moved = reallocate(*runtime, worker_in(*runtime, me), me.task, block, size);
  return moved ? moved.value : refuse_block(*runtime, moved.error);
}

void janus_free(void* block) {
  if (!is_usual_caller()) [[unlikely]]
    return free_unusual(block);
  Worker& worker = current_worker();
  Heap::AtHand found;
  const Released released = release_at_hand(worker, block, found);
  if (released == Released::kUnusual) [[unlikely]]
    return free_unusual(block);
  if (released == Released::kOfCage) [[unlikely]]
    return free_of_cage(block, found.list, found.its_tag, found.its_entry, found.entry, found.tag_index);
  if (released == Released::kToCut) [[unlikely]]
    return cut_chunk(current_worker());
}

}  // extern "C"
