// SPDX-License-Identifier: Apache-2.0
// arch/linux/pages.cpp — memory from the kernel and back. Guards are in guards.cpp.
#include "arch/linux/guards.h"
#include "arch/linux/kernel_call.h"
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
  // Locked pages (a host's mlockall) refuse. Linux 5.18 has a second form for them; before it they are unlocked first.
  if (!failed(call_again(kMadvise, pages, bytes, kAdviseDontNeedLocked))) return;
  call(kMunlock, pages, bytes);
  call_again(kMadvise, pages, bytes, kAdviseDontNeed);
}

}  // namespace janus::platform
