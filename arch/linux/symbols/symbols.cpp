// SPDX-License-Identifier: Apache-2.0
// arch/linux/symbols/symbols.cpp — the function at an address, by the symbol table of the program's own file. The first
// request reads the table, into pages of its own; if the file is missing, stripped or unreadable, no address has a
// name. An archive member that janus-cc links unless it strips the program.
#include "arch/linux/auxv/elf.h"
#include "arch/linux/kernel_call.h"
#include "rt/optional.h"
#include "rt/platform.h"

JANUS_ANCHOR(janus_symbols);
extern "C" [[JANUS_OF_LINKER]] const char janus_image_of_symbols[] asm("__ehdr_start");

namespace janus::kernel {
namespace {

struct Section {
  std::uint32_t name, type;
  std::uint64_t flags, address, offset, bytes;
  std::uint32_t link, info;
  std::uint64_t alignment, entry_bytes;
};
static_assert(sizeof(Section) == 64 && sizeof(elf::Symbol) == 24);

constexpr std::uint32_t kSymbolTable = 2;
constexpr std::uint16_t kMovable = 3;  // an image for any address
constexpr std::uint8_t kFunction = 2;
constexpr std::uint64_t kMaxBytes = 64 << 20;
constexpr unsigned kMaxSections = 1024;

struct Function {
  std::uint32_t at, bytes, name;  // `at` from the image's base
};

// Written by the thread that turns kUnknown into kReading, and constant once it is kReady.
struct Table {
  Function* functions;
  std::uint32_t count;
  const char* names;
  std::uint64_t base;
};
Table g_table;
enum class State : std::uint8_t { kUnknown, kReading, kReady, kNone };
std::atomic<State> g_state{State::kUnknown};

bool read_at(long file, std::uint64_t offset, void* to, std::uint64_t bytes) {
  if (call(kLseek, file, offset, 0) != static_cast<long>(offset)) return false;
  auto* at = static_cast<std::byte*>(to);
  while (bytes != 0) {
    const long got = call_again(kRead, file, at, bytes);
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::uint64_t>(got);
  }
  return true;
}

std::uint64_t in_pages(std::uint64_t bytes) {
  return (bytes + kPage) & ~(kPage - 1);  // with a zero behind it
}

// Reads into pages that stay mapped, since later reports need them, too.
std::byte* copy_of(long file, const Section& section) {
  if (section.bytes == 0 || section.bytes > kMaxBytes) return nullptr;
  std::byte* const copy = platform::map(in_pages(section.bytes));
  if (copy == nullptr || read_at(file, section.offset, copy, section.bytes)) return copy;
  platform::unmap(copy, in_pages(section.bytes));
  return nullptr;
}

void sift_down(Function* heap, std::uint32_t from, std::uint32_t count) {
  for (std::uint64_t child; (child = std::uint64_t{from} * 2 + 1) < count; from = static_cast<std::uint32_t>(child)) {
    if (child + 1 < count && heap[child].at < heap[child + 1].at) ++child;
    if (heap[from].at >= heap[child].at) return;
    const Function lower = heap[from];
    heap[from] = heap[child];
    heap[child] = lower;
  }
}

// Heapsort in place, since there may be little stack and memory.
void sort(Function* all, std::uint32_t count) {
  for (std::uint32_t i = count / 2; i-- > 0;) sift_down(all, i, count);
  for (std::uint32_t last = count; last-- > 1;) {
    const Function largest = all[0];
    all[0] = all[last];
    all[last] = largest;
    sift_down(all, 0, last);
  }
}

// Overwrites the symbols, which are twice as large, with the functions.
std::uint32_t pick_functions(std::byte* symbols, std::uint64_t bytes, std::uint64_t names_bytes) {
  auto* const functions = reinterpret_cast<Function*>(symbols);
  std::uint32_t count = 0;
  for (std::uint64_t at = 0; at + sizeof(elf::Symbol) <= bytes; at += sizeof(elf::Symbol)) {
    elf::Symbol symbol;
    __builtin_memcpy(&symbol, symbols + at, sizeof symbol);
    const bool is_one = (symbol.info & 15) == kFunction && symbol.bytes != 0 && symbol.section != 0;
    if (!is_one || symbol.value >> 32 != 0 || symbol.bytes >> 32 != 0 || symbol.name >= names_bytes) continue;
    functions[count++] = {static_cast<std::uint32_t>(symbol.value), static_cast<std::uint32_t>(symbol.bytes),
                          symbol.name};
  }
  return count;
}

bool find_table(long file, const elf::Header& header, Section& symbols, Section& names) {
  if (header.section_bytes != sizeof(Section) || header.section_count > kMaxSections) return false;
  for (unsigned i = 0; i < header.section_count; ++i) {
    if (!read_at(file, header.sections + i * sizeof(Section), &symbols, sizeof symbols)) return false;
    if (symbols.type != kSymbolTable) continue;
    return symbols.link < header.section_count &&
           read_at(file, header.sections + symbols.link * sizeof(Section), &names, sizeof names);
  }
  return false;
}

bool read_table(long file, Table& table) {
  elf::Header header;
  Section symbols, names;
  if (!read_at(file, 0, &header, sizeof header) || !find_table(file, header, symbols, names)) return false;
  std::byte* const all = copy_of(file, symbols);
  std::byte* const texts = all != nullptr ? copy_of(file, names) : nullptr;
  if (texts == nullptr) return false;
  table.names = reinterpret_cast<const char*>(texts);
  table.functions = reinterpret_cast<Function*>(all);
  table.count = pick_functions(all, symbols.bytes, names.bytes);
  table.base = header.type == kMovable ? reinterpret_cast<std::uint64_t>(janus_image_of_symbols) : 0;
  sort(table.functions, table.count);
  return true;
}

// Waits while another thread reads the table, but not for long: this may be that thread itself, in a fault handler.
bool is_read_by_another() {
  constexpr std::uint64_t kMillisecond = 1'000'000;
  std::atomic<std::uint32_t> never{0};
  for (int n = 0; n < 100 && g_state.load(std::memory_order_acquire) == State::kReading; ++n)
    platform::wait(never, 0, platform::now_ns() + kMillisecond);
  return g_state.load(std::memory_order_acquire) == State::kReady;
}

bool has_table() {
  State seen = State::kUnknown;
  if (!g_state.compare_exchange_strong(seen, State::kReading, std::memory_order_acquire))
    return seen == State::kReady || (seen == State::kReading && is_read_by_another());
  const long file = call_again(kOpenat, kAtCwd, "/proc/self/exe", kOpenCloexec);
  const bool is_read = !failed(file) && read_table(file, g_table);
  if (!failed(file)) call(kClose, file);
  g_state.store(is_read ? State::kReady : State::kNone, std::memory_order_release);  // pairs with the loads
  return is_read;
}

}  // namespace
}  // namespace janus::kernel

namespace janus::platform {

using namespace janus::kernel;

Symbol symbol_of(std::uint64_t address) noexcept {
  if (!has_table()) return {nullptr, 0};
  const std::uint64_t at = address - g_table.base;
  std::uint32_t low = 0, high = g_table.count;  // the last one that begins at `at` or before it
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (g_table.functions[middle].at <= at)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return {nullptr, 0};
  const Function& found = g_table.functions[low - 1];
  if (at - found.at >= found.bytes) return {nullptr, 0};
  return {g_table.names + found.name, at - found.at};
}

}  // namespace janus::platform
