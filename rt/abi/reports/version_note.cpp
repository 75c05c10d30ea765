// SPDX-License-Identifier: Apache-2.0
// rt/abi/reports/version_note.cpp — the runtime's version, as an ELF note in every program, which `readelf -n` shows:
// its name is "janus-rt", its type 1, its content the version as text. Linkers keep it, though nothing refers to it.
// The ABI's version is a symbol.
#include <janus/rt.h>

#include <cstdint>

namespace janus {

namespace {

constexpr char kVersion[] = JANUS_RT_VERSION_TEXT;

struct VersionNote {
  std::uint32_t name_bytes, content_bytes, type;
  char name[12];
  char content[(sizeof kVersion + 3) / 4 * 4];
};

}  // namespace

// Referred to by every object that includes rt.h.
extern "C" const char janus_abi_1 = 1;

extern "C" [[gnu::section(".note.janus-rt"), gnu::used, gnu::retain,
             gnu::aligned(4)]] constinit const VersionNote janus_version_note = {9, sizeof kVersion, 1, "janus-rt",
                                                                                 JANUS_RT_VERSION_TEXT};

}  // namespace janus
