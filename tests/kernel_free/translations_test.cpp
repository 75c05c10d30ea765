// SPDX-License-Identifier: Apache-2.0
// translations_test.cpp — how many address translations QEMU's emulator caches for a CPU. On a miss it walks the page
// tables and sets the page's accessed bit, so misses can be counted. Real processors behave differently.
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
// The translations of the test's own code, data and stack have places in the table as well, and may evict some of the
// pages.
constexpr unsigned kOthers = kPages / 16;

Entry& entry_of_page(const std::byte* page) {
  SharedAccess shared;
  return *entry_of(reinterpret_cast<std::uint64_t>(page), 1);
}

void touch_all(const std::byte* pages) {
  for (unsigned n = 0; n < kPages; ++n) touch(pages + n * kPage);
}

// Touches all pages. Each new page is zeroed at another address, whose translation also takes a place; so callers touch
// them again.
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

// Runs first, to see the state that the boot has left.
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
  widen_translations_everywhere();  // other tests have unmapped more than a few pages
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
