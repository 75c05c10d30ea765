// SPDX-License-Identifier: Apache-2.0
// new.cpp: operator new and delete over the runtime's allocator, charged to the task's budget. If there is no memory,
// the new handler is called, if the program set one; else the nothrow forms return nullptr and the others, which would
// have to throw, panic the task. Weak: a program may replace them.
#include <janus/rt.h>

#include <atomic>
#include <cstddef>
#include <new>

#include "linker/start/program.h"

namespace {

constexpr std::size_t kDefaultAlign = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

std::atomic<std::new_handler> new_handler{nullptr};

// Returns nullptr if there is no memory and no new handler that could free some.
void* try_allocate(std::size_t bytes, std::size_t align) noexcept {
  for (;;) {
    if (void* block = align == kDefaultAlign ? janus_alloc(bytes) : janus_alloc_aligned(align, bytes)) return block;
    const std::new_handler handler = new_handler.load(std::memory_order_acquire);  // pairs with set_new_handler
    if (handler == nullptr) return nullptr;
    handler();
  }
}

void* allocate(std::size_t bytes, std::size_t align) noexcept {
  void* block = try_allocate(bytes, align);
  if (block == nullptr) janus_panic_because(JANUS_CAUSE_NO_MEMORY, "operator new: no memory");
  return block;
}

}  // namespace

namespace std {
const nothrow_t nothrow{};
new_handler set_new_handler(new_handler handler) noexcept {
  return ::new_handler.exchange(handler, std::memory_order_acq_rel);
}
new_handler get_new_handler() noexcept {
  return ::new_handler.load(std::memory_order_acquire);
}
}  // namespace std

#define WEAK [[gnu::weak]]

WEAK void* operator new(std::size_t bytes) {
  return allocate(bytes, kDefaultAlign);
}
WEAK void* operator new[](std::size_t bytes) {
  return operator new(bytes);
}
WEAK void* operator new(std::size_t bytes, std::align_val_t align) {
  return allocate(bytes, static_cast<std::size_t>(align));
}
WEAK void* operator new[](std::size_t bytes, std::align_val_t align) {
  return operator new(bytes, align);
}

WEAK void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return try_allocate(bytes, kDefaultAlign);
}
WEAK void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept {
  return operator new(bytes, tag);
}
WEAK void* operator new(std::size_t bytes, std::align_val_t align, const std::nothrow_t&) noexcept {
  return try_allocate(bytes, static_cast<std::size_t>(align));
}
WEAK void* operator new[](std::size_t bytes, std::align_val_t align, const std::nothrow_t& tag) noexcept {
  return operator new(bytes, align, tag);
}

// The allocator knows the size and alignment of its blocks, so all forms of operator delete do the same.
WEAK void operator delete(void* block) noexcept {
  janus_free(block);
}
WEAK void operator delete[](void* block) noexcept {
  operator delete(block);
}
WEAK void operator delete(void* block, std::size_t) noexcept {
  operator delete(block);
}
WEAK void operator delete[](void* block, std::size_t) noexcept {
  operator delete[](block);
}
WEAK void operator delete(void* block, const std::nothrow_t&) noexcept {
  operator delete(block);
}
WEAK void operator delete[](void* block, const std::nothrow_t&) noexcept {
  operator delete[](block);
}
WEAK void operator delete(void* block, std::align_val_t) noexcept {
  janus_free(block);
}
WEAK void operator delete[](void* block, std::align_val_t align) noexcept {
  operator delete(block, align);
}
WEAK void operator delete(void* block, std::size_t, std::align_val_t align) noexcept {
  operator delete(block, align);
}
WEAK void operator delete[](void* block, std::size_t, std::align_val_t align) noexcept {
  operator delete[](block, align);
}
WEAK void operator delete(void* block, std::align_val_t align, const std::nothrow_t&) noexcept {
  operator delete(block, align);
}
WEAK void operator delete[](void* block, std::align_val_t align, const std::nothrow_t&) noexcept {
  operator delete[](block, align);
}
