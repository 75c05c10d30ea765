// SPDX-License-Identifier: Apache-2.0
// pages.cpp — memory from mmap. Guards are mprotect's: sanitizers know that call, and hosted tests run few stacks.
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define JANUS_IS_POISONED 1
#elif defined(__has_feature)  // as clang says it
#if __has_feature(address_sanitizer)
#define JANUS_IS_POISONED 1
#endif
#endif
#ifdef JANUS_IS_POISONED
#include <sanitizer/asan_interface.h>
#endif

#include "tests/hosted_platform/hosted.h"

namespace janus::hosted {

std::byte* map(std::size_t bytes) noexcept {
  if (bytes == 0) return nullptr;
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
#ifdef JANUS_IS_POISONED
  __asan_unpoison_memory_region(pages, bytes);  // a stack that was unmapped half-way up may have lain here
#endif
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
