// SPDX-License-Identifier: Apache-2.0
// rt/abi/version_note.cpp — an ELF note in every program that holds the runtime: `readelf -n` shows of which version it
// is. Its name is "janus-rt", its type 1, its content the version as text. Kept by linkers, though nothing refers to
// it.
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

extern "C" [[gnu::section(".note.janus-rt"), gnu::used, gnu::retain,
             gnu::aligned(4)]] constinit const VersionNote janus_version_note = {9, sizeof kVersion, 1, "janus-rt",
                                                                                 JANUS_RT_VERSION_TEXT};

}  // namespace janus
