// SPDX-License-Identifier: Apache-2.0
// arch/linux/auxv/elf.h — the parts of an ELF image that a running program reads, of its own and of the vDSO.
#pragma once

#include <cstdint>

namespace janus::elf {

struct Header {
  std::uint8_t ident[16];
  std::uint16_t type, machine;
  std::uint32_t version;
  std::uint64_t entry, segments, sections;
  std::uint32_t flags;
  std::uint16_t header_bytes, segment_bytes, segment_count, section_bytes, section_count, names;
};
struct Segment {
  std::uint32_t type, flags;
  std::uint64_t offset, address, physical, file_bytes, memory_bytes, align;
};
inline constexpr std::uint32_t kLoad = 1, kDynamic = 2, kRelro = 0x6474e552;

struct Dynamic {
  std::int64_t tag;
  std::uint64_t value;
};
inline constexpr std::int64_t kDynNull = 0, kDynPltRelSize = 2, kDynHash = 4, kDynStrtab = 5, kDynSymtab = 6,
                              kDynRela = 7, kDynRelaSize = 8, kDynJmpRel = 23, kDynRelrSize = 35, kDynRelr = 36,
                              kDynGnuHash = 0x6ffffef5;

struct Rela {
  std::uint64_t offset, info;
  std::int64_t addend;
};
inline constexpr std::uint32_t kRelative = 8, kIrelative = 37;

struct Symbol {
  std::uint32_t name;
  std::uint8_t info, other;
  std::uint16_t section;
  std::uint64_t value, bytes;
};

}  // namespace janus::elf
