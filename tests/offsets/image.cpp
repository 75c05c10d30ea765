// SPDX-License-Identifier: Apache-2.0
// image.cpp — reads the sections and the symbol table of an ELF file.
#include "tests/offsets/image.h"

#include <elf.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace witness {
namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "offsets: %s\n", why.c_str());
  std::exit(2);
}

// The `count` records at `offset`; ends the process if they lie beyond the end of the file.
template <class Record>
std::span<const Record> records(const std::vector<std::uint8_t>& file, std::uint64_t offset, std::uint64_t count) {
  if (offset > file.size() || count > (file.size() - offset) / sizeof(Record)) give_up("the file is cut short");
  return {reinterpret_cast<const Record*>(file.data() + offset), count};
}

}  // namespace

Image::Image(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) give_up("cannot read " + path);
  file_.assign(std::istreambuf_iterator<char>(in), {});
  const auto& header = records<Elf64_Ehdr>(file_, 0, 1)[0];
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != EM_X86_64)
    give_up(path + " is no x86-64 ELF file");

  const auto sections = records<Elf64_Shdr>(file_, header.e_shoff, header.e_shnum);
  for (const auto& section : sections) {
    if ((section.sh_flags & SHF_TLS) != 0) has_thread_local_storage_ = true;
    if ((section.sh_flags & SHF_EXECINSTR) != 0)
      code_.push_back({section.sh_addr, records<std::uint8_t>(file_, section.sh_offset, section.sh_size)});
    if (section.sh_type != SHT_SYMTAB) continue;
    const auto& names = sections[section.sh_link];
    for (const auto& symbol : records<Elf64_Sym>(file_, section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
      if (symbol.st_shndx == SHN_UNDEF) continue;
      const auto* const name = reinterpret_cast<const char*>(file_.data() + names.sh_offset + symbol.st_name);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) functions_.push_back({name, symbol.st_value, symbol.st_size});
      if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT) variables_.emplace(name, symbol.st_value);
    }
  }
  if (functions_.empty()) give_up(path + " has no symbol table");
  std::ranges::sort(functions_, {}, &Function::address);
}

std::span<const std::uint8_t> Image::code_at(std::uint64_t address) const {
  for (const auto& code : code_)
    if (address >= code.address && address - code.address < code.bytes.size())
      return code.bytes.subspan(address - code.address);
  return {};
}

const Function& Image::function(const std::string& name) const {
  const auto found = std::ranges::find(functions_, name, &Function::name);
  if (found == functions_.end()) give_up("no function " + name);
  return *found;
}

std::uint64_t Image::variable(const std::string& name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end()) give_up("no variable " + name);
  return found->second;
}

}  // namespace witness
