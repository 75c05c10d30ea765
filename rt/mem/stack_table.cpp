// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/stack_table.h"

#include <initializer_list>

#include "rt/platform.h"

namespace janus {

namespace {

void add(std::atomic<std::size_t>& sum, std::size_t n) noexcept {
  sum.fetch_add(n, std::memory_order_relaxed);
}

}  // namespace

// --- Life ------------------------------------------------------------------------------------------------------------

bool StackTable::init() noexcept {
  std::byte* table = platform::map(kTableBytes);
  if (table == nullptr) return false;
  slabs_ = reinterpret_cast<std::atomic<StackSlab*>*>(table);
  // Cannot be guessed if the machine has entropy; accidental overflows are found without it.
  if (!platform::entropy_at_once(&canary_key_, sizeof canary_key_))
    canary_key_ = address_of(table) * 0x9e3779b97f4a7c15u;
  mappings_.store(1, std::memory_order_relaxed);
  mapped_.store(kTableBytes, std::memory_order_relaxed);
  return true;
}

void StackTable::destroy() noexcept {
  for (std::uint32_t n = 0; n < count(); n++) {
    StackSlab* const mapped = slab(n);
    platform::unmap(reinterpret_cast<std::byte*>(mapped), mapped->bytes);
  }
  platform::unmap(reinterpret_cast<std::byte*>(slabs_), kTableBytes);
  slabs_ = nullptr;
  count_.store(0, std::memory_order_relaxed);
  for (auto* figure : {&guards_, &protected_, &unguarded_, &mappings_, &mapped_})
    figure->store(0, std::memory_order_relaxed);
}

// Tries the system call on one page: a kernel's version does not tell whether it works.
bool StackTable::let_grow(std::size_t most) noexcept {
  std::byte* const page = platform::map(kPageBytes);
  if (page == nullptr) return false;
  if (platform::set_guards(page, 0, 1, kPageBytes) && platform::clear_guard(page, kPageBytes)) most_ = most;
  platform::unmap(page, kPageBytes);
  return grows();
}

// --- New slabs -------------------------------------------------------------------------------------------------------

StackSlab* StackTable::add_slab(unsigned size_class, std::uint32_t stacks) noexcept {
  LockGuard guard(lock_);
  const std::uint32_t number = count();
  if (number == kMaxSlabs) return nullptr;
  for (; stacks != 0; stacks /= 2) {
    const StackExtent extent = extent_of(size_class);
    const std::size_t bytes = StackSlab::mapped_bytes(stacks, stack_stride(size_class, extent));
    std::byte* pages = platform::map(bytes);
    if (pages == nullptr) continue;
    StackSlab* slab = reinterpret_cast<StackSlab*>(pages);
    slab->init(bytes, stacks, size_class, extent);
    slab->number = number;
    slab->canary_key = canary_key_;
    slabs_[number].store(slab, std::memory_order_relaxed);
    count_.store(number + 1, std::memory_order_release);  // pairs with slab_at()
    add(mappings_, 1);
    add(mapped_, bytes);
    return slab;
  }
  return nullptr;
}

std::uint32_t StackTable::stacks_after(const StackSlab& slab) const noexcept {
  return slab.bytes * 2 <= (grows() ? kMaxGrowingSlabBytes : kMaxSlabBytes) ? slab.count * 2 : slab.count;
}

void StackTable::count_guards(const StackGroup& group) noexcept {
  add(guards_, group.guarded);
  add(unguarded_, std::size_t{group.stacks} - group.guarded);
  if (group.guard != platform::Guard::kProtected) return;
  add(protected_, group.guarded);
  add(mappings_, std::size_t{2} * group.guarded);
}

// --- Stacks by address -----------------------------------------------------------------------------------------------

StackSlab* StackTable::slab_at(const void* address) const noexcept {
  // The newest first, since they are the largest.
  for (std::uint32_t n = count_.load(std::memory_order_acquire); n-- > 0;) {  // pairs with add_slab()
    StackSlab* const found = slab(n);
    if (found->index_at(address) != StackSlab::kNone) return found;
  }
  return nullptr;
}

Stack* StackTable::containing(const void* address) const noexcept {
  StackSlab* slab = slab_at(address);
  if (slab == nullptr) return nullptr;
  const std::uint32_t index = slab->index_at(address);
  if (index >= slab->prepared.load(std::memory_order_relaxed)) return nullptr;
  Stack* stack = slab->record_of(index);
  return std::atomic_ref<std::byte*>(stack->limit).load(std::memory_order_acquire) == nullptr ? nullptr : stack;
}

bool StackTable::in_guard(const Stack* stack, const void* address) const noexcept {
  StackSlab* slab = slab_at(address);
  if (slab == nullptr) return false;
  return slab->record_of(slab->index_at(address)) == stack && static_cast<const std::byte*>(address) < stack->limit;
}

}  // namespace janus
