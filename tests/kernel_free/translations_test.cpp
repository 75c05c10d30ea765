// SPDX-License-Identifier: Apache-2.0
// translations_test.cpp — how many translations QEMU's emulator keeps for a CPU. One that it has not, it looks up in
// the page tables, and marks the page there as accessed; so those can be counted. Processors do it in their own ways.
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kernel-free/cpu/hypervisor.h"
#include "kernel-free/cpu/instructions.h"
#include "kernel-free/memory/page_tables.h"
#include "kernel-free/smp/emulator.h"
#include "kernel-free/smp/per_cpu.h"
#include "kernel-free/smp/requests.h"
#include "rt/platform.h"
#include "tests/harness/test.h"

namespace {

using namespace janus;
using namespace janus::bare;

constexpr Entry kAccessed = 1 << 5;
constexpr unsigned kPages = kPlaces / 2;
// Of our own code, data and stack, which have places in the table, too, and may put a page out.
constexpr unsigned kOthers = kPages / 16;

Entry& entry_of_page(const std::byte* page) {
  SharedAccess shared;
  return *entry_of(reinterpret_cast<std::uint64_t>(page), 1);
}

void touch_all(const std::byte* pages) {
  for (unsigned n = 0; n < kPages; ++n) touch(pages + n * kPage);
}

// All of them are there: a page that comes is zeroed at another address of its own, which has a place as well.
std::byte* map_all() {
  std::byte* const pages = platform::map(kPages * kPage);
  if (pages != nullptr) touch_all(pages);
  return pages;
}

unsigned looked_up_again(const std::byte* pages) {
  for (unsigned n = 0; n < kPages; ++n)
    std::atomic_ref<Entry>(entry_of_page(pages + n * kPage)).fetch_and(~kAccessed, std::memory_order_relaxed);
  touch_all(pages);
  unsigned count = 0;
  for (unsigned n = 0; n < kPages; ++n) count += (entry_of_page(pages + n * kPage) & kAccessed) != 0;
  return count;
}

// The first test: what the boot left behind.
TEST(translations, translations_of_many_pages_are_kept_from_the_first_task_on) {
  if (!is_below(kEmulator)) SKIP("not below QEMU's emulator");
  std::byte* const pages = map_all();
  REQUIRE(pages != nullptr);
  touch_all(pages);
  const unsigned count = looked_up_again(pages);
  test::note("looked up again", count);
  CHECK_LE(count, kOthers);
  platform::unmap(pages, kPages * kPage);
}

TEST(translations, translations_of_other_pages_survive_when_a_few_are_taken_away) {
  if (!is_below(kEmulator)) SKIP("not below QEMU's emulator");
  widen_translations_everywhere();  // what other tests took away was more
  std::byte* const pages = map_all();
  REQUIRE(pages != nullptr);
  std::byte* const few = platform::map(kMaxAlone * kPage);
  REQUIRE(few != nullptr);
  for (unsigned n = 0; n < kMaxAlone; ++n) touch(few + n * kPage);
  touch_all(pages);
  platform::discard(few, kMaxAlone * kPage);
  CHECK_LE(looked_up_again(pages), kOthers);
  for (unsigned n = 0; n < kMaxAlone; ++n) touch(few + n * kPage);
  touch_all(pages);
  platform::unmap(few, kMaxAlone * kPage);
  CHECK_LE(looked_up_again(pages), kOthers);
  platform::unmap(pages, kPages * kPage);
}

TEST(translations, are_looked_up_again_once_they_are_forgotten) {
  if (!is_below(kEmulator)) SKIP("not below QEMU's emulator");
  std::byte* const pages = map_all();
  REQUIRE(pages != nullptr);
  touch_all(pages);
  write_cr3(read_cr3());
  CHECK_EQ(looked_up_again(pages), kPages);
  platform::unmap(pages, kPages * kPage);
}

}  // namespace
