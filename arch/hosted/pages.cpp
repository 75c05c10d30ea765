// SPDX-License-Identifier: Apache-2.0
// pages.cpp — memory from mmap. Guard pages are made by mprotect, because sanitizers know that call.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/hosted/hosted.h"
#include "arch/hosted/sanitizers.h"

namespace janus::hosted {
namespace {

// Under ThreadSanitizer all memory that the runtime maps is in one range of address space, handed out from the bottom
// up and never twice. Only ThreadSanitizer's interface for virtual machines can forget accesses to memory. That
// interface has to know the range, and a report searches downwards from an address for the beginning of the block.
constexpr std::size_t kForgettableBytes = std::size_t{1} << 38;
std::byte* forgettable = nullptr;
std::atomic<std::size_t> given{0};

[[gnu::constructor]] void reserve_forgettable() {
  if (__tsan_java_init == nullptr) return;
  // By a direct system call: the sanitizer's mmap() would set up shadow memory for the whole range.
  const long pages =
      ::syscall(SYS_mmap, nullptr, kForgettableBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages < 0) return;
  forgettable = reinterpret_cast<std::byte*>(pages);
  __tsan_java_init(static_cast<unsigned long>(pages), kForgettableBytes);
}

// The address for the next mapping; nullptr if any address will do.
void* next_address(std::size_t bytes) noexcept {
  if (forgettable == nullptr) return nullptr;
  const std::size_t at = given.fetch_add(bytes, std::memory_order_relaxed);
  return at + bytes <= kForgettableBytes ? forgettable + at : nullptr;
}

}  // namespace

bool is_forgettable(const std::byte* at) noexcept {
  return forgettable != nullptr && static_cast<std::size_t>(at - forgettable) < kForgettableBytes;
}

std::byte* map(std::size_t bytes) noexcept {
  if (bytes == 0) return nullptr;
  void* const at = next_address(bytes);
  const int where = at != nullptr ? MAP_FIXED : 0;
  void* pages = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | where, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  // A stack that was unmapped with frames still on it may have been here.
  if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(pages, bytes);
  return static_cast<std::byte*>(pages);
}

void unmap(std::byte* pages, std::size_t bytes) noexcept {
  munmap(pages, bytes);
}

void discard(std::byte* pages, std::size_t bytes) noexcept {
  madvise(pages, bytes, MADV_DONTNEED);
}

platform::Guard guard(std::byte* first, std::size_t stride, std::size_t count, std::size_t guard_bytes,
                      std::size_t& guarded) noexcept {
  for (guarded = 0; guarded < count; ++guarded)
    if (mprotect(first + guarded * stride, guard_bytes, PROT_NONE) != 0) break;
  return guarded != 0 ? platform::Guard::kProtected : platform::Guard::kNone;
}

std::uint64_t memory_limit() noexcept {
  const long pages = sysconf(_SC_PHYS_PAGES);
  return static_cast<std::uint64_t>(pages > 0 ? pages : 1) * 4096;
}

}  // namespace janus::hosted
