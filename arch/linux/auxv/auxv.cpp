// SPDX-License-Identifier: Apache-2.0
// arch/linux/auxv/auxv.cpp — the auxiliary vector: from the initial stack, from prctl (Linux 6.4), or from /proc.
#include "arch/linux/auxv/auxv.h"

#include "arch/linux/kernel_call.h"
#include "arch/linux/once.h"

namespace janus::kernel {
namespace {

constexpr std::size_t kMax = 64;  // some 24 entries are in use

const AuxEntry* g_entries = nullptr;
AuxEntry g_asked[kMax + 1];  // the last one stays kAuxNull
Once g_found;

void read_from_proc() {
  const long fd = call_again(kOpenat, kAtCwd, "/proc/self/auxv", kOpenCloexec, 0);
  if (failed(fd)) return;
  std::size_t have = 0;
  const std::size_t room = kMax * sizeof(AuxEntry);
  while (have < room) {
    const long got = call_again(kRead, fd, reinterpret_cast<char*>(g_asked) + have, room - have);
    if (failed(got) || got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  call(kClose, fd);
}

void ask() {
  if (g_entries != nullptr) return;
  if (failed(call(kPrctl, kPrGetAuxv, g_asked, kMax * sizeof(AuxEntry)))) read_from_proc();
  g_entries = g_asked;
}

}  // namespace

void remember_auxv(const AuxEntry* entries) noexcept {
  g_entries = entries;
}

std::uint64_t aux_value(std::uint64_t type, std::uint64_t otherwise) noexcept {
  g_found.run(ask);
  for (const AuxEntry* entry = g_entries; entry->type != kAuxNull; ++entry)
    if (entry->type == type) return entry->value;
  return otherwise;
}

}  // namespace janus::kernel
