// SPDX-License-Identifier: Apache-2.0
// image.cpp — see image.h.
#include "kernel-free/boot/image.h"

#include "kernel-free/console/dump.h"
#include "kernel-free/memory/page_tables.h"
#include "kernel-free/smp/per_cpu.h"

namespace janus::bare {
namespace {

struct ElfHeader {
  unsigned char ident[16];
  std::uint16_t type, machine;
  std::uint32_t version;
  std::uint64_t entry, segments, sections;
  std::uint32_t flags;
  std::uint16_t header_bytes, segment_bytes, segment_count, section_bytes, section_count, names;
};
static_assert(sizeof(ElfHeader) == 64);

struct Segment {
  static constexpr std::uint32_t kLoad = 1, kReadOnlyAfterRelocation = 0x6474e552;
  static constexpr std::uint32_t kExecutable = 1, kIsWritable = 2;

  std::uint32_t type, flags;
  std::uint64_t offset, address, physical, file_bytes, memory_bytes, align;
};
static_assert(sizeof(Segment) == 56);

extern "C" [[gnu::visibility("hidden")]] const ElfHeader __ehdr_start;
extern "C" [[gnu::visibility("hidden")]] std::byte janus_boot_stack_guard[];

const Segment* first_segment() {
  return reinterpret_cast<const Segment*>(reinterpret_cast<const char*>(&__ehdr_start) + __ehdr_start.segments);
}
const Segment* last_segment() {
  return first_segment() + __ehdr_start.segment_count;
}

std::uint64_t page_down(std::uint64_t address) {
  return address & ~(kPage - 1);
}
std::uint64_t page_up(std::uint64_t address) {
  return page_down(address + kPage - 1);
}

bool is_guard(std::uint64_t page) {
  if (page == reinterpret_cast<std::uint64_t>(janus_boot_stack_guard)) return true;
  for (const auto& stack : g_first_cpu.interrupt_stacks)
    if (page == reinterpret_cast<std::uint64_t>(stack.guard)) return true;
  return false;
}

// The pages of a writable segment that become read-only after relocation, as the linker laid them out; only whole
// pages.
Range relro() {
  for (const Segment* segment = first_segment(); segment != last_segment(); ++segment)
    if (segment->type == Segment::kReadOnlyAfterRelocation)
      return {page_up(segment->address), page_down(segment->address + segment->memory_bytes)};
  return {0, 0};
}

Entry rights_of(const Segment& segment) {
  const bool is_writable = (segment.flags & Segment::kIsWritable) != 0;
  const bool is_executable = (segment.flags & Segment::kExecutable) != 0;
  if (is_writable && is_executable) refuse("a segment of the program is both writable and executable");
  return is_writable ? kReadWrite : is_executable ? kReadExecute : kReadOnly;
}

// Maps pages that all get the same rights and contain no guard page.
bool map_run(Range run, Entry rights) {
  return run.is_empty() || map_physical(run.begin, run, rights);
}

bool map_segment(const Segment& segment, Range read_only) {
  const Entry rights = rights_of(segment);
  const std::uint64_t end = page_up(segment.address + segment.memory_bytes);
  auto kind_of = [&](std::uint64_t page) -> Entry {
    if (rights != kReadWrite) return rights;
    if (is_guard(page)) return 0;
    return page >= read_only.begin && page < read_only.end ? kReadOnly : rights;
  };
  for (std::uint64_t at = page_down(segment.address); at < end;) {
    const Entry kind = kind_of(at);
    const std::uint64_t begin = at;
    while (at < end && kind_of(at) == kind) at += kPage;
    if (kind != 0 && !map_run({begin, at}, kind)) return false;
  }
  return true;
}

}  // namespace

Range image_range() noexcept {
  Range range{reinterpret_cast<std::uint64_t>(&__ehdr_start), 0};
  for (const Segment* segment = first_segment(); segment != last_segment(); ++segment)
    if (segment->type == Segment::kLoad && segment->address + segment->memory_bytes > range.end)
      range.end = segment->address + segment->memory_bytes;
  return {page_down(range.begin), page_up(range.end)};
}

bool map_image() noexcept {
  const Range read_only = relro();
  for (const Segment* segment = first_segment(); segment != last_segment(); ++segment)
    if (segment->type == Segment::kLoad && segment->memory_bytes != 0 && !map_segment(*segment, read_only))
      return false;
  return true;
}

}  // namespace janus::bare
