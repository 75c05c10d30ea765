// SPDX-License-Identifier: Apache-2.0
// arch/linux/start/relocate.cpp — RELA and RELR relative relocations, IRELATIVE (multiversioned functions of user
// code), RELRO.
#include "arch/linux/start/relocate.h"

#include "arch/linux/kernel_call.h"
#include "rt/optional.h"

// In an image with fixed addresses the linker lists IRELATIVE relocations between these two; otherwise they are equal.
extern "C" {
[[JANUS_OF_LINKER]] extern const janus::elf::Rela __rela_iplt_start[];
[[JANUS_OF_LINKER]] extern const janus::elf::Rela __rela_iplt_end[];
}

namespace janus::elf {
namespace {

struct Tables {
  std::uint64_t rela, rela_bytes, plt, plt_bytes, relr, relr_bytes;
};

Tables read_tables(const Dynamic* dynamic) {
  Tables t{};
  for (; dynamic->tag != kDynNull; ++dynamic) {
    if (dynamic->tag == kDynRela) t.rela = dynamic->value;
    if (dynamic->tag == kDynRelaSize) t.rela_bytes = dynamic->value;
    if (dynamic->tag == kDynJmpRel) t.plt = dynamic->value;
    if (dynamic->tag == kDynPltRelSize) t.plt_bytes = dynamic->value;
    if (dynamic->tag == kDynRelr) t.relr = dynamic->value;
    if (dynamic->tag == kDynRelrSize) t.relr_bytes = dynamic->value;
  }
  return t;
}

std::uint64_t& at(std::uint64_t address) {
  return *reinterpret_cast<std::uint64_t*>(address);
}

void apply_relative(std::uint64_t base, std::uint64_t table, std::uint64_t bytes) {
  const auto* rela = reinterpret_cast<const Rela*>(base + table);
  for (std::size_t i = 0; i < bytes / sizeof(Rela); ++i)
    if (static_cast<std::uint32_t>(rela[i].info) == kRelative)
      at(base + rela[i].offset) = base + static_cast<std::uint64_t>(rela[i].addend);
}

// The resolvers are ordinary code, so they run after everything else has its address.
void apply_irelative(std::uint64_t base, std::uint64_t table, std::uint64_t bytes) {
  const auto* rela = reinterpret_cast<const Rela*>(base + table);
  for (std::size_t i = 0; i < bytes / sizeof(Rela); ++i)
    if (static_cast<std::uint32_t>(rela[i].info) == kIrelative)
      at(base + rela[i].offset) =
          reinterpret_cast<std::uint64_t (*)()>(base + static_cast<std::uint64_t>(rela[i].addend))();
}

// RELR: an even entry is the address of one word to move; an odd one is a bit map of the 63 words that follow the last.
void apply_relr(std::uint64_t base, std::uint64_t table, std::uint64_t bytes) {
  const auto* entry = reinterpret_cast<const std::uint64_t*>(base + table);
  std::uint64_t where = 0;
  for (std::size_t i = 0; i < bytes / sizeof(*entry); ++i) {
    if ((entry[i] & 1) == 0) {
      where = base + entry[i];
      at(where) += base;
      where += 8;
      continue;
    }
    for (unsigned bit = 1; bit < 64; ++bit)
      if ((entry[i] >> bit & 1) != 0) at(where + (bit - 1) * 8) += base;
    where += 63 * 8;
  }
}

void protect_relro(std::uint64_t base, const Segment& relro) {
  const std::uint64_t page = kernel::kPage;
  const std::uint64_t first = (base + relro.address) & ~(page - 1);
  const std::uint64_t last = (base + relro.address + relro.memory_bytes) & ~(page - 1);
  if (last > first) kernel::call(kernel::kMprotect, first, last - first, kernel::kProtRead);
}

void apply_all(std::uint64_t base, const Dynamic* dynamic) {
  const Tables t = read_tables(dynamic);
  apply_relr(base, t.relr, t.relr_bytes);
  apply_relative(base, t.rela, t.rela_bytes);
  apply_irelative(base, t.rela, t.rela_bytes);
  apply_irelative(base, t.plt, t.plt_bytes);
}

}  // namespace

void relocate_self(const Segment* segments, std::size_t count, const Dynamic* dynamic) noexcept {
  const Segment* relro = nullptr;
  std::uint64_t base = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (segments[i].type == kRelro) relro = &segments[i];
    if (segments[i].type == kDynamic) base = reinterpret_cast<std::uint64_t>(dynamic) - segments[i].address;
    if (segments[i].type == kDynamic) apply_all(base, dynamic);
  }
  const auto fixed_bytes =
      reinterpret_cast<std::uint64_t>(__rela_iplt_end) - reinterpret_cast<std::uint64_t>(__rela_iplt_start);
  if (base == 0) apply_irelative(0, reinterpret_cast<std::uint64_t>(__rela_iplt_start), fixed_bytes);
  if (relro != nullptr) protect_relro(base, *relro);
}

}  // namespace janus::elf
