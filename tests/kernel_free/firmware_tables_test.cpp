// SPDX-License-Identifier: Apache-2.0
// firmware_tables_test.cpp — the firmware's tables of CPUs, intact, damaged and senseless, in a simulated physical
// memory of 4 GiB. A read beyond it crashes the test.
#include <sys/mman.h>

#include <cstring>
#include <ctime>
#include <initializer_list>

#include "kernel-free/firmware/processors.h"
#include "tests/harness/test.h"

namespace janus::bare {

// Symbols that the machine would define.
std::uint64_t g_direct_map = 0;
namespace {
bool g_has_x2apic = false;
}
bool has_x2apic() noexcept {
  return g_has_x2apic;
}

}  // namespace janus::bare

namespace {

using namespace janus::bare;

constexpr std::uint64_t kRoot = 0xf0000, kDirectory = 0x10'0000, kOldDirectory = 0x20'0000, kMadt = 0x30'0000;
constexpr std::uint64_t kMpPointer = 0xf8000, kMpTable = 0x9f000;

class Memory {
 public:
  Memory() {
    constexpr std::size_t kPage = 4096;
    bytes_ = static_cast<char*>(
        mmap(nullptr, kReachable + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    REQUIRE(bytes_ != MAP_FAILED && mprotect(bytes_ + kReachable, kPage, PROT_NONE) == 0);
    g_direct_map = reinterpret_cast<std::uint64_t>(bytes_);
    g_has_x2apic = false;
  }
  ~Memory() { munmap(bytes_, kReachable + 4096); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  template <class T>
  void put(std::uint64_t at, T value) {
    std::memcpy(bytes_ + at, &value, sizeof value);
  }
  void text(std::uint64_t at, const char* text) { std::memcpy(bytes_ + at, text, std::strlen(text)); }
  char& operator[](std::uint64_t at) { return bytes_[at]; }
  // Sets the byte at `sum` so that all the bytes add up to 0.
  void add_up(std::uint64_t at, std::uint64_t bytes, std::uint64_t sum) {
    bytes_[sum] = 0;
    char total = 0;
    for (std::uint64_t n = 0; n < bytes; ++n) total = static_cast<char>(total + bytes_[at + n]);
    bytes_[sum] = static_cast<char>(-total);
  }

  // --- ACPI ---

  void root(std::uint64_t directory, std::uint64_t old_directory) {
    text(kRoot, "RSD PTR ");
    put<std::uint8_t>(kRoot + 15, directory != 0 ? 2 : 0);
    put(kRoot + 16, static_cast<std::uint32_t>(old_directory));
    put<std::uint32_t>(kRoot + 20, 36);
    put(kRoot + 24, directory);
    add_up(kRoot, 20, kRoot + 8);
    add_up(kRoot, 36, kRoot + 32);
  }
  void table(std::uint64_t at, const char* name, std::uint32_t bytes) {
    text(at, name);
    put(at + 4, bytes);
    add_up(at, bytes, at + 9);
  }
  void directory(std::initializer_list<std::uint64_t> tables) {
    std::uint64_t at = kDirectory + 36;
    for (const std::uint64_t table : tables) put(at, table), at += 8;
    table(kDirectory, "XSDT", static_cast<std::uint32_t>(at - kDirectory));
  }
  // Each entry follows the one before it; the first is at kMadt + 44.
  std::uint64_t madt_end = kMadt + 44;
  void local_apic(std::uint8_t id, std::uint32_t flags = 1) {
    put<std::uint8_t>(madt_end, 0), put<std::uint8_t>(madt_end + 1, 8), put(madt_end + 3, id), put(madt_end + 4, flags);
    madt_end += 8;
  }
  void local_x2apic(std::uint32_t id, std::uint32_t flags = 1) {
    put<std::uint8_t>(madt_end, 9), put<std::uint8_t>(madt_end + 1, 16), put(madt_end + 4, id),
        put(madt_end + 8, flags);
    madt_end += 16;
  }
  std::uint32_t end_madt() {
    const auto bytes = static_cast<std::uint32_t>(madt_end - kMadt);
    table(kMadt, "APIC", bytes);
    return bytes;
  }
  // A complete set of tables with CPUs 0, 1 and 2.
  std::uint32_t usual() {
    for (const std::uint8_t id : {0, 1, 2}) local_apic(id);
    const std::uint32_t bytes = end_madt();
    directory({kMadt});
    root(kDirectory, 0);
    return bytes;
  }

 private:
  char* bytes_;
};

ProcessorList g_list;
bool read_acpi() {
  g_list = {};
  return processors_from_acpi(kRoot, g_list) == Told::kAll;
}

TEST(acpi, cpus_are_those_that_are_enabled_each_once) {
  Memory memory;
  for (const std::uint8_t id : {0, 4, 2, 4}) memory.local_apic(id);
  memory.local_apic(3, 0);
  memory.local_x2apic(5);
  memory.local_x2apic(6, 2);
  memory.end_madt();
  memory.directory({kMadt});
  memory.root(kDirectory, 0);
  REQUIRE(read_acpi());
  REQUIRE(g_list.count == 3);
  CHECK(g_list.ids[0] == 4 && g_list.ids[1] == 2 && g_list.ids[2] == 5);
  CHECK_EQ(g_list.announced, 3u);
  g_list = {};
  CHECK(processors_from_acpi(0, g_list) == Told::kAll);  // 0: the root must be searched for
  CHECK_EQ(g_list.count, 3u);
}

TEST(acpi, ids_beyond_an_xapic_are_announced_but_not_started) {
  for (const bool has_x2 : {false, true}) {
    Memory memory;
    g_has_x2apic = has_x2;
    for (std::uint32_t id = 0; id < 300; ++id) memory.local_x2apic(id);
    memory.end_madt();
    memory.directory({kMadt});
    memory.root(kDirectory, 0);
    REQUIRE(read_acpi());
    CHECK_EQ(g_list.announced, 299u);
    CHECK_EQ(g_list.count, has_x2 ? 299u : 254u);
  }
}

TEST(acpi, more_cpus_than_there_is_room_for_are_counted) {
  Memory memory;
  g_has_x2apic = true;
  for (std::uint32_t id = 0; id < 5000; ++id) memory.local_x2apic(id);
  memory.end_madt();
  memory.directory({kMadt});
  memory.root(kDirectory, 0);
  REQUIRE(read_acpi());
  CHECK_EQ(g_list.count, janus::platform::kMaxCpus);
  CHECK_EQ(g_list.announced, 4999u);
}

TEST(acpi, the_old_directory_serves_where_the_new_one_is_missing_or_damaged) {
  Memory memory;
  memory.usual();
  memory.put(kOldDirectory + 36, static_cast<std::uint32_t>(kMadt));
  memory.table(kOldDirectory, "RSDT", 40);
  memory.root(0, kOldDirectory);
  REQUIRE(read_acpi());
  CHECK_EQ(g_list.count, 2u);
  memory.root(kDirectory, kOldDirectory);
  memory[kDirectory + 40] ^= 1;
  REQUIRE(read_acpi());
  CHECK_EQ(g_list.count, 2u);
}

TEST(acpi, a_wrong_byte_anywhere_is_noticed) {
  Memory memory;
  const std::uint32_t madt_bytes = memory.usual();
  REQUIRE(read_acpi());
  const struct { std::uint64_t at, bytes; } tables[] = {{kRoot, 36}, {kDirectory, 44}, {kMadt, madt_bytes}};
  for (const auto& table : tables) {
    for (std::uint64_t n = 0; n < table.bytes; ++n) {
      memory[table.at + n] ^= 0x10;
      CHECK(!read_acpi());
      CHECK_EQ(g_list.count + g_list.announced, 0u);
      memory[table.at + n] ^= 0x10;
    }
  }
  CHECK(read_acpi());
}

TEST(acpi, lengths_that_cannot_be_are_refused) {
  for (const std::uint32_t bytes : {0u, 1u, 35u, 0x10'0001u, 0x7fff'ffffu, ~0u}) {
    for (const std::uint64_t table : {kDirectory, kMadt}) {
      Memory memory;
      memory.usual();
      memory.put(table + 4, bytes);
      if (bytes > 9 && bytes <= 0x200'0000) memory.add_up(table, bytes, table + 9);
      CHECK(!read_acpi());
    }
  }
}

TEST(acpi, entries_that_do_not_fill_the_table_are_refused) {
  for (const int length : {0, 1, 7, 9, 255}) {  // of the last entry, which has 8 bytes
    Memory memory;
    memory.usual();
    memory[kMadt + 44 + 2 * 8 + 1] = static_cast<char>(length);
    memory.add_up(kMadt, memory.madt_end - kMadt, kMadt + 9);
    CHECK(!read_acpi());
    CHECK_EQ(g_list.count + g_list.announced, 0u);
  }
}

TEST(acpi, directories_that_name_themselves_or_nothing_come_to_an_end) {
  Memory memory;
  memory.usual();
  memory.directory({kDirectory, kRoot, 0, ~std::uint64_t{0}, kReachable - 1, kReachable - 36, kReachable, kMadt});
  CHECK(read_acpi());
  memory.root(kRoot, kRoot);
  CHECK(!read_acpi());
}

// Both directories have the maximum length, and each entry names a table of the maximum length with a wrong sum.
// Checking every one of them would add up 2^38 bytes.
TEST(acpi, a_directory_cannot_make_work_without_end) {
  Memory memory;
  constexpr std::uint32_t kMax = 1 << 20;
  for (std::uint64_t at = 36; at + 8 <= kMax; at += 8) memory.put(kDirectory + at, kMadt);
  for (std::uint64_t at = 36; at + 4 <= kMax; at += 4)
    memory.put(kOldDirectory + at, static_cast<std::uint32_t>(kMadt));
  memory.table(kDirectory, "XSDT", kMax);
  memory.table(kOldDirectory, "RSDT", kMax);
  memory.table(kMadt, "APIC", kMax);
  memory[kMadt + 100] ^= 1;
  memory.root(kDirectory, kOldDirectory);
  const std::clock_t begin = std::clock();
  CHECK(!read_acpi());
  CHECK_LT(std::clock() - begin, 2 * CLOCKS_PER_SEC);
}

// --- The MP table ---

std::uint64_t put_mp_table(Memory& memory) {
  std::uint64_t at = kMpTable + 44;
  for (const std::uint8_t id : {0, 1, 7}) {
    memory.put<std::uint8_t>(at, 0), memory.put(at + 1, id), memory.put<std::uint8_t>(at + 3, 1);
    at += 20;
  }
  memory.put<std::uint8_t>(at, 1);  // an entry of a bus
  at += 8;
  memory.text(kMpTable, "PCMP");
  memory.put(kMpTable + 4, static_cast<std::uint16_t>(at - kMpTable));
  memory.add_up(kMpTable, at - kMpTable, kMpTable + 7);
  memory.text(kMpPointer, "_MP_");
  memory.put(kMpPointer + 4, static_cast<std::uint32_t>(kMpTable));
  memory.put<std::uint8_t>(kMpPointer + 8, 1);
  memory.add_up(kMpPointer, 16, kMpPointer + 10);
  return at - kMpTable;
}

bool read_mp() {
  g_list = {};
  return processors_from_mp_table(g_list) == Told::kAll;
}

TEST(mp_table, cpus_are_those_of_its_entries) {
  Memory memory;
  CHECK(!read_mp());
  put_mp_table(memory);
  REQUIRE(read_mp());
  REQUIRE(g_list.count == 2);
  CHECK(g_list.ids[0] == 1 && g_list.ids[1] == 7);
}

TEST(mp_table, a_wrong_byte_anywhere_is_noticed) {
  Memory memory;
  const std::uint64_t bytes = put_mp_table(memory);
  for (std::uint64_t n = 0; n < 16 + bytes; ++n) {
    char& byte = n < 16 ? memory[kMpPointer + n] : memory[kMpTable + n - 16];
    byte ^= 0x10;
    CHECK(!read_mp());
    CHECK_EQ(g_list.count + g_list.announced, 0u);
    byte ^= 0x10;
  }
}

TEST(mp_table, entries_beyond_its_end_are_refused) {
  Memory memory;
  const std::uint64_t bytes = put_mp_table(memory);
  for (std::uint64_t less = 1; less < 8; ++less) {
    memory.put(kMpTable + 4, static_cast<std::uint16_t>(bytes - less));
    memory.add_up(kMpTable, bytes - less, kMpTable + 7);
    CHECK(!read_mp());
  }
}

// --- Random contents ---

TEST(firmware, tables_of_random_bytes_that_add_up_leave_a_list_that_holds) {
  Memory memory;
  const std::uint32_t madt_bytes = memory.usual();
  const std::uint64_t mp_bytes = put_mp_table(memory);
  char whole[512];
  std::memcpy(whole, &memory[kMadt], sizeof whole);
  std::uint64_t state = 88172645463325252;
  auto next = [&] {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
  };
  unsigned taken = 0;
  for (unsigned round = 0; round < 20'000; ++round) {
    std::memcpy(&memory[kMadt], whole, sizeof whole);
    memory.directory({kMadt});
    memory.root(kDirectory, 0);
    put_mp_table(memory);
    for (std::uint64_t changes = next() % 4 + 1; changes != 0; --changes) {
      const std::uint64_t places[] = {kRoot + next() % 36, kDirectory + next() % 44, kMadt + next() % madt_bytes,
                                      kMpPointer + next() % 16, kMpTable + next() % mp_bytes};
      memory[places[next() % 5]] = static_cast<char>(next());
    }
    memory.add_up(kMadt, madt_bytes, kMadt + 9);
    memory.add_up(kDirectory, 44, kDirectory + 9);
    memory.add_up(kRoot, 20, kRoot + 8);
    memory.add_up(kRoot, 36, kRoot + 32);
    memory.add_up(kMpTable, mp_bytes, kMpTable + 7);
    memory.add_up(kMpPointer, 16, kMpPointer + 10);
    for (const bool acpi : {true, false}) {
      const bool found = acpi ? read_acpi() : read_mp();
      taken += found;
      CHECK(found || g_list.count + g_list.announced == 0);
      CHECK_LE(g_list.count, g_list.announced);
      for (unsigned n = 0; n < g_list.count; ++n) CHECK(g_list.ids[n] != g_list.own_id && g_list.ids[n] <= kMaxXapicId);
    }
  }
  CHECK_GT(taken, 10'000u);  // otherwise the sums alone would have refused nearly all
}

}  // namespace
