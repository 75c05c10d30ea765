// SPDX-License-Identifier: Apache-2.0
// arch/linux/auxv/vdso.cpp — see vdso.h. The hash tables are used only for the number of symbols: the vDSO has a
// dozen, and the search goes through all of them.
#include "arch/linux/auxv/vdso.h"

#include <cstddef>

#include "arch/linux/files/text.h"

namespace janus::elf {
namespace {

struct Image {
  const std::byte* base = nullptr;  // the base of addresses in the image
  const Dynamic* dynamic = nullptr;
};

Image load(const Header* header) {
  const auto* start = reinterpret_cast<const std::byte*>(header);
  const auto* segments = reinterpret_cast<const Segment*>(start + header->segments);
  Image image;
  for (unsigned i = 0; i < header->segment_count; ++i) {
    const Segment& s = segments[i];
    if (s.type == kLoad && image.base == nullptr) image.base = start + s.offset - s.address;
    if (s.type == kDynamic) image.dynamic = reinterpret_cast<const Dynamic*>(start + s.offset);
  }
  return image;
}

template <typename T>
const T* table(const Image& image, std::int64_t tag) {
  for (const Dynamic* d = image.dynamic; d->tag != kDynNull; ++d)
    if (d->tag == tag) return reinterpret_cast<const T*>(image.base + d->value);
  return nullptr;
}

// The GNU table has no count: the last symbol of the chain with the highest index gives it.
std::uint32_t count_by_gnu_hash(const std::uint32_t* hash) {
  const std::uint32_t buckets = hash[0], first = hash[1], bloom_words = hash[2];
  const std::uint32_t* bucket = hash + 4 + std::size_t{bloom_words} * 2;
  const std::uint32_t* chain = bucket + buckets;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < buckets; ++i)
    if (bucket[i] > last) last = bucket[i];
  if (last < first) return first;
  while ((chain[last - first] & 1) == 0) ++last;
  return last + 1;
}

std::uint32_t count_symbols(const Image& image) {
  if (const auto* hash = table<std::uint32_t>(image, kDynHash); hash != nullptr) return hash[1];
  if (const auto* hash = table<std::uint32_t>(image, kDynGnuHash); hash != nullptr) return count_by_gnu_hash(hash);
  return 0;
}

}  // namespace

const void* find_symbol(const Header* header, const char* name) noexcept {
  const Image image = load(header);
  if (image.base == nullptr || image.dynamic == nullptr) return nullptr;
  const auto* symbols = table<Symbol>(image, kDynSymtab);
  const auto* strings = table<char>(image, kDynStrtab);
  if (symbols == nullptr || strings == nullptr) return nullptr;
  const std::uint32_t count = count_symbols(image);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (symbols[i].section == 0) continue;  // undefined
    if (kernel::equal(kernel::text_of(strings + symbols[i].name), kernel::text_of(name)))
      return image.base + symbols[i].value;
  }
  return nullptr;
}

}  // namespace janus::elf
