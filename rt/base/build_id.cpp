// SPDX-License-Identifier: Apache-2.0
// rt/base/build_id.cpp — finds the ELF note that has the build id by the program headers, which are in the image.
#include "rt/base/build_id.h"

#include "rt/optional.h"

namespace janus {

namespace {

constexpr std::uint32_t kNoteSegment = 4, kBuildIdNote = 3;

struct ImageHeader {
  unsigned char identification[16];
  std::uint16_t type, machine;
  std::uint32_t version;
  std::uint64_t entry, segments, sections;
  std::uint32_t flags;
  std::uint16_t header_bytes, segment_bytes, segment_count;
};

struct Segment {
  std::uint32_t type, flags;
  std::uint64_t offset, address, physical, file_bytes, bytes, alignment;
};

struct Note {
  std::uint32_t name_bytes, content_bytes, type;
};

std::size_t padded(std::size_t bytes) noexcept {
  return (bytes + 3) & ~std::size_t{3};
}

BuildId find_in(const std::uint8_t* at, std::size_t left) noexcept {
  while (left >= sizeof(Note)) {
    const auto* const note = reinterpret_cast<const Note*>(at);
    const std::size_t bytes = sizeof(Note) + padded(note->name_bytes) + padded(note->content_bytes);
    if (bytes > left) break;
    if (note->type == kBuildIdNote) return {at + sizeof(Note) + padded(note->name_bytes), note->content_bytes};
    at += bytes;
    left -= bytes;
  }
  return {nullptr, 0};
}

}  // namespace

}  // namespace janus

// Linkers define this symbol at the image's ELF header, if that is loaded; otherwise it is null.
extern "C" [[JANUS_OF_LINKER]] const std::uint8_t janus_image[] asm("__ehdr_start");

namespace janus {

BuildId build_id() noexcept {
  const std::uint8_t* const image = janus_image;
  if (image == nullptr) return {nullptr, 0};
  const auto* const header = reinterpret_cast<const ImageHeader*>(image);
  const auto* const segments = reinterpret_cast<const Segment*>(image + header->segments);
  for (unsigned i = 0; i < header->segment_count; ++i) {
    // A note near the header is in the same loaded segment, so its offset from the header is the same in memory and
    // file.
    if (segments[i].type != kNoteSegment) continue;
    const BuildId found = find_in(image + segments[i].offset, segments[i].bytes);
    if (found.bytes != nullptr) return found;
  }
  return {nullptr, 0};
}

}  // namespace janus
