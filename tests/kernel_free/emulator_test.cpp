// SPDX-License-Identifier: Apache-2.0
// emulator_test.cpp — how large the project makes QEMU's table of translations, on a model of that table
// (accel/tcg/cputlb.c, tlb_mmu_resize_locked). A larger table is better because two pages with the same place evict
// each other.
#include <cstddef>
#include <cstdint>

#include "kernel-free/cpu/hypervisor.h"
#include "kernel-free/cpu/instructions.h"
#include "kernel-free/smp/emulator.h"
#include "tests/harness/test.h"

namespace {

using namespace janus;
using namespace janus::bare;

constexpr std::uint64_t kPageBytes = 4096, kTables = 0x5000;
constexpr Range kPlenty{0x174000, 0x2000'0000};

class Table {
 public:
  // `is_late`: at least a tenth of a second has passed since the last decision about the table's size.
  Table(unsigned places, bool is_late) : places_(places), is_late_(is_late) {}

  void use(std::uint64_t page) {
    std::uint64_t& place = pages_[page % places_];
    used_ += place == 0;
    place = page;
  }
  void forget() {
    if (used_ > most_) most_ = used_;
    const unsigned percent = most_ * 100 / places_;
    if (percent > 70)
      resize(2 * places_);
    else if (percent < 30 && is_late_)
      resize(narrow());
    for (std::uint64_t& page : pages_) page = 0;
    used_ = 0;
  }
  [[nodiscard]] unsigned places() const { return places_; }

 private:
  static constexpr unsigned kMax = 1 << 14;

  [[nodiscard]] unsigned narrow() const {
    unsigned power = 1;
    while (power < most_) power *= 2;
    if (most_ * 100 / power > 70) power *= 2;
    return power < kMinPlaces ? kMinPlaces : power;
  }
  void resize(unsigned places) {
    REQUIRE(places <= kMax);
    places_ = places;
    most_ = 0;
  }

  unsigned places_, used_ = 0, most_ = 0;
  bool is_late_;
  std::uint64_t pages_[kMax] = {};
};

// --- The machine

Table* g_table = nullptr;
Range g_memory{0, 0};
HypervisorName g_name{};
bool g_is_virtual = true;
unsigned g_touched = 0, g_forgotten = 0;

void be(const HypervisorName& name, Range memory) {
  g_name = name;
  g_memory = memory;
  use_for_widening({kDirectMap + memory.begin, kDirectMap + memory.end});
  g_is_virtual = true;
  g_touched = g_forgotten = 0;
}

unsigned places_after(unsigned before, bool is_late) {
  static Table table(0, false);
  table = Table(before, is_late);
  g_table = &table;
  widen_translations_here();
  return table.places();
}

}  // namespace

namespace janus::arch {

Features features() noexcept {
  return g_is_virtual ? Features(Features::kHypervisor) : Features(0);
}
Cpuid cpuid(std::uint32_t leaf, std::uint32_t) noexcept {
  return leaf == kHypervisorLeaf ? Cpuid{leaf, g_name.ebx, g_name.ecx, g_name.edx} : Cpuid{};
}

}  // namespace janus::arch

namespace janus::bare {

std::uint64_t read_cr3() noexcept {
  return kTables;
}
void write_cr3(std::uint64_t value) noexcept {
  CHECK_EQ(value, kTables);
  ++g_forgotten;
  g_table->forget();
}
void touch(const std::byte* at) noexcept {
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(at) - kDirectMap;
  CHECK(address >= g_memory.begin && address < g_memory.end);
  ++g_touched;
  g_table->use(reinterpret_cast<std::uint64_t>(at) / kPageBytes);
}

}  // namespace janus::bare

namespace {

TEST(translations, a_table_becomes_wide_however_wide_it_was) {
  be(kEmulator, kPlenty);
  for (const bool is_late : {false, true})
    for (unsigned before = kMinPlaces; before <= 2 * kPlaces; before *= 2)
      CHECK_GE(places_after(before, is_late), kPlaces);
}

TEST(translations, widening_a_table_touches_fewer_words_than_it_has_entries) {
  be(kEmulator, kPlenty);
  (void)places_after(kMinPlaces, true);
  CHECK_LT(g_touched, kPlaces);
  CHECK_LE(g_forgotten, 5u);
  CHECK_GT(g_forgotten, 0u);
}

TEST(translations, with_little_memory_a_table_is_as_wide_as_that_allows) {
  be(kEmulator, {kPlenty.begin, kPlenty.begin + 300 * kPageBytes});
  CHECK_EQ(places_after(kMinPlaces, true), 512u);
  be(kEmulator, {0, 0});
  CHECK_EQ(places_after(kMinPlaces, true), kMinPlaces);
}

TEST(translations, processors_and_other_hypervisors_are_left_alone) {
  be(kKvm, kPlenty);
  (void)places_after(kMinPlaces, true);
  be(kEmulator, kPlenty);
  g_is_virtual = false;
  (void)places_after(kMinPlaces, true);
  CHECK_EQ(g_touched + g_forgotten, 0u);
}

}  // namespace
