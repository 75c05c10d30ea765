// SPDX-License-Identifier: Apache-2.0
// arch/linux/memory/pages.cpp — maps and unmaps memory. Guards are in guards.cpp.
#include "arch/linux/kernel_call.h"
#include "arch/linux/memory/guards.h"
#include "rt/platform.h"

namespace janus::platform {

using namespace janus::kernel;

std::byte* map(std::size_t bytes) noexcept {
  const long result =
      call(kMmap, nullptr, bytes, kProtRead | kProtWrite, kMapPrivate | kMapAnonymous | kMapNoReserve, -1, 0);
  return failed(result) ? nullptr : reinterpret_cast<std::byte*>(result);
}

void unmap(std::byte* pages, std::size_t bytes) noexcept {
  if (!failed(call(kMunmap, pages, bytes))) forget_guards(pages, bytes);
}

void discard(std::byte* pages, std::size_t bytes) noexcept {
  if (!failed(call_again(kMadvise, pages, bytes, kAdviseDontNeed))) return;
  // That fails for locked pages (a host's mlockall). Linux 5.18 has another form for them; on an older kernel
  // they are unlocked first.
  if (!failed(call_again(kMadvise, pages, bytes, kAdviseDontNeedLocked))) return;
  call(kMunlock, pages, bytes);
  call_again(kMadvise, pages, bytes, kAdviseDontNeed);
}

// Needs Linux 6.14; if the kernel refuses, the pages are made when they are touched. The vector is small, because the
// caller's stack may be a task's.
void populate(std::byte* first, std::size_t stride, std::uint64_t which) noexcept {
  constexpr std::size_t kBatch = 16, kPage = 4096;
  while (which != 0) {
    Range batch[kBatch];
    std::size_t n = 0;
    for (; which != 0 && n < kBatch; ++n, which &= which - 1)
      batch[n] = {first + static_cast<std::size_t>(__builtin_ctzll(which)) * stride, kPage};
    if (failed(call_again(kProcessMadvise, kPidfdSelf, batch, n, kAdvisePopulateWrite, 0))) return;
  }
}

}  // namespace janus::platform
