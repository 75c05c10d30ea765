// SPDX-License-Identifier: Apache-2.0
// cage_heap_test.cpp — blocks of accounts that pay for pages: what they hold is what they have paid for, whatever they
// free; the end of an account gives back its blocks and no others; and who frees a block that is gone is told so.
#include <iterator>

#include "rt/budget/accounts.h"
#include "rt/mem/heap.h"
#include "tests/harness/scale.h"
#include "tests/harness/test.h"
#include "tests/harness/thread_group.h"

using namespace janus;
using janus::test::ThreadGroup;

namespace {

constexpr std::uint32_t kCage = 5, kOther = 700;  // heaps of two segments
constexpr std::size_t kOfEveryKind[] = {1, 100, 1008, 1024, 1100, 4096, 4097, 20480, 32768, 32769, 1 << 20};

// Returns how many bytes are no longer in use.
std::size_t reclaim_spans(Heap& heap, std::uint32_t account) {
  std::size_t bytes = 0;
  while (heap.reclaim_next(account, bytes)) {
  }
  return bytes;
}

// One thread's view of a cage: what it has paid for must be what the heap has in use.
struct Cage {
  Heap& heap;
  std::uint32_t account;
  std::size_t paid = 0;

  void* allocate(std::size_t bytes, std::size_t align = 16) {
    const Heap::Plan plan = Heap::plan_for(bytes, align);
    if (void* const idle = heap.take_idle_in_cage(account, plan)) return idle;
    paid += Heap::bytes_in_cage(plan);
    return heap.take_paid_in_cage(account, plan, align);
  }
  void free(void* block) {
    const Heap::Found found = heap.free(nullptr, block);
    CHECK_EQ(found.misuse, Misuse::kNone);
    CHECK_EQ(found.tag, account);
    paid -= found.bytes;
  }
  void reclaim() {
    paid -= reclaim_spans(heap, account);
    void* huge[2];
    while (const unsigned count = heap.take_over_huge(account, huge, 2))
      for (unsigned n = 0; n < count; n++) paid -= heap.free_own(nullptr, huge[n]).bytes;
  }
};

struct Fixture {
  Heap heap;
  Cage cage{heap, kCage}, other{heap, kOther};
  Fixture() { CHECK(heap.init()); }
  ~Fixture() {
    CHECK_EQ(heap.bytes_in_use(), 0u);
    heap.destroy();
    CHECK_EQ(heap.bytes_mapped(), 0u);
    CHECK_EQ(heap.mappings(), 0u);
  }
  void check_paid() { CHECK_EQ(heap.bytes_in_use(), cage.paid + other.paid); }
};

}  // namespace

TEST(cage_heap, gives_blocks_of_every_size_and_alignment) {
  Fixture f;
  for (unsigned c = 0; c < kSizeClasses; c++) {
    const std::size_t bytes = size_class_bytes(c);
    auto* const first = static_cast<std::byte*>(f.cage.allocate(bytes));
    for (unsigned n = 1; n < 3 * cage_shape(c).blocks; n++) {
      auto* const block = static_cast<std::byte*>(f.cage.allocate(bytes));
      REQUIRE(block != nullptr);
      CHECK_EQ(f.heap.size_of(block), bytes);
      CHECK_EQ(f.heap.tag_of(block), kCage);
      CHECK_EQ(f.heap.look_at(block + 1).misuse, Misuse::kNoBlock);
      block[0] = block[bytes - 1] = std::byte{255};
    }
    CHECK_EQ(f.heap.size_of(first), bytes);
    f.check_paid();
  }
  f.cage.reclaim();
  for (std::size_t align = 16; align <= (std::size_t{2} << 20); align *= 2)
    for (const std::size_t bytes : {std::size_t{24}, align, align + 1}) {
      void* const block = f.cage.allocate(bytes, align);
      REQUIRE(block != nullptr);
      CHECK_EQ(address_of(block) % align, 0u);
      CHECK_GE(f.heap.size_of(block), bytes);
      f.check_paid();
    }
  f.cage.reclaim();
  CHECK_EQ(f.cage.paid, 0u);
}

// The attack on heaps that charge for blocks: to fill each class in turn, and to keep one block of each page.
TEST(cage_heap, a_cage_holds_no_page_that_it_has_not_paid_for) {
  Fixture f;
  constexpr std::size_t kAtOnce = std::size_t{256} << 10;
  static void* blocks[kAtOnce / kMinBlock];
  const std::size_t before = f.heap.idle_bytes();
  for (unsigned c = 0; c < kSizeClasses; c++) {
    const std::size_t bytes = size_class_bytes(c), count = kAtOnce / bytes;
    for (std::size_t n = 0; n < count; n++) blocks[n] = f.cage.allocate(bytes);
    std::uintptr_t kept = 0;
    for (std::size_t n = 0; n < count; n++) {
      if (address_of(blocks[n]) / kPageBytes == kept) f.cage.free(blocks[n]);
      kept = address_of(blocks[n]) / kPageBytes;
    }
    f.check_paid();
  }
  CHECK_GT(f.cage.paid, std::size_t{72} * kAtOnce / 2);  // it keeps most pages, and pays for them
  f.cage.reclaim();
  f.check_paid();
  CHECK_EQ(f.cage.paid, 0u);
  f.heap.trim();
  CHECK_LE(f.heap.idle_bytes(), before);
}

TEST(cage_heap, agrees_with_a_model_over_a_random_history) {
  Fixture f;
  constexpr unsigned kHeld = 600;
  struct Held {
    unsigned char* block;
    std::size_t bytes;
    unsigned char value;
    Cage* cage;
  };
  static Held held[kHeld];
  for (Held& each : held) each = {};
  HeapCache cache{};
  std::uint64_t state = 20261128;
  const auto next = [&state](std::uint64_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % limit;
  };
  const int steps = test::scaled(60'000, 15'000);
  for (int step = 0; step < steps; step++) {
    Held& each = held[next(kHeld)];
    if (each.block != nullptr) {
      CHECK_EQ(each.block[0], each.value);
      CHECK_EQ(each.block[each.bytes - 1], each.value);
      if (each.cage != nullptr)
        each.cage->free(each.block);
      else
        CHECK_EQ(f.heap.free(&cache, each.block).tag, 9u);
      CHECK_EQ(f.heap.free(&cache, each.block).misuse == Misuse::kNone, false);
      each.block = nullptr;
      continue;
    }
    const std::size_t bytes = 1 + next(next(50) == 0 ? 200'000 : next(10) == 0 ? 40'000 : 1500);
    each.cage = next(3) == 0 ? nullptr : next(2) == 0 ? &f.cage : &f.other;
    each.block = static_cast<unsigned char*>(each.cage != nullptr ? each.cage->allocate(bytes)
                                                                  : f.heap.allocate(&cache, bytes, 16, 9));
    REQUIRE(each.block != nullptr);
    each.bytes = f.heap.size_of(each.block);
    each.value = static_cast<unsigned char>(next(256));
    each.block[0] = each.block[each.bytes - 1] = each.value;
    if (next(2000) == 0) {
      Cage& ended = next(2) == 0 ? f.cage : f.other;
      ended.reclaim();
      CHECK_EQ(ended.paid, 0u);
      for (Held& one : held)
        if (one.block != nullptr && one.cage == &ended) {
          CHECK_NE(f.heap.look_at(one.block).misuse, Misuse::kNone);
          one.block = nullptr;
        }
    }
  }
  for (Held& each : held)
    if (each.block != nullptr && each.cage == nullptr) CHECK_EQ(f.heap.free(&cache, each.block).tag, 9u);
  f.cage.reclaim();
  f.other.reclaim();
  f.heap.flush(cache);
}

TEST(cage_heap, misuse_changes_nothing_and_has_its_kind) {
  Fixture f;
  HeapCache cache{};
  for (const std::size_t bytes : kOfEveryKind) {
    auto* const block = static_cast<std::byte*>(f.cage.allocate(bytes));
    auto* const second = static_cast<std::byte*>(f.cage.allocate(bytes));
    CHECK_EQ(f.heap.free(&cache, block + 8).misuse, Misuse::kNoBlock);
    CHECK_EQ(f.heap.take_over(block).misuse, Misuse::kNone);
    CHECK_EQ(f.heap.free(&cache, block).misuse, Misuse::kRuntimes);
    CHECK_EQ(f.heap.take_over(block).misuse, Misuse::kRuntimes);
    f.cage.paid -= f.heap.free_own(nullptr, block).bytes;
    CHECK_NE(f.heap.free(&cache, block).misuse, Misuse::kNone);  // kFreed, or kNoBlock if its span is gone
    CHECK_NE(f.heap.look_at(block).misuse, Misuse::kNone);
    f.cage.reclaim();
    CHECK_EQ(f.heap.free(&cache, second).misuse, Misuse::kNoBlock);
    CHECK_EQ(f.heap.take_over(second).misuse, Misuse::kNoBlock);
    CHECK_EQ(f.heap.look_at(second).misuse, Misuse::kNoBlock);
    f.check_paid();
  }
  f.heap.flush(cache);
}

// A task outside that resizes or frees a block in parts has made it the runtime's.
TEST(cage_heap, the_end_of_a_cage_leaves_what_the_runtime_holds_until_it_is_freed) {
  Fixture f;
  for (const std::size_t bytes : kOfEveryKind) {
    auto* const kept = static_cast<unsigned char*>(f.cage.allocate(bytes));
    void* const left = f.cage.allocate(bytes);
    kept[0] = 77;
    CHECK_EQ(f.heap.take_over(kept).misuse, Misuse::kNone);
    f.cage.reclaim();
    CHECK_EQ(reclaim_spans(f.heap, kCage), 0u);
    CHECK_GT(f.cage.paid, 0u);
    f.check_paid();
    CHECK_EQ(kept[0], 77u);
    CHECK_NE(f.heap.free(nullptr, left).misuse, Misuse::kNone);
    const Heap::Found found = f.heap.free_own(nullptr, kept);
    CHECK_EQ(found.tag, kCage);
    CHECK_EQ(found.bytes, f.cage.paid);
    f.cage.paid = 0;
    f.check_paid();
  }
}

TEST(cage_heap, a_write_after_the_free_loses_the_free_list_and_nothing_else) {
  Fixture f;
  void* blocks[8];
  for (void*& block : blocks) block = f.cage.allocate(512);
  f.cage.free(blocks[1]);
  f.cage.free(blocks[2]);
  *static_cast<std::uint64_t*>(blocks[2]) ^= 0x1234'5678'0000;
  void* const next = f.cage.allocate(512);
  CHECK(next != nullptr && next != blocks[1] && next != blocks[2]);
  f.cage.reclaim();
  CHECK_EQ(f.cage.paid, 0u);
}

// --- Accounts --------------------------------------------------------------------------------------------------------

TEST(cage_heap, closed_accounts_hand_their_blocks_up_with_the_charge) {
  Heap heap;
  static Accounts accounts;
  REQUIRE(heap.init());
  REQUIRE(accounts.init({{kUnlimited, 64 << 20, 100, 100, 0}}));
  const Amounts part = {{100, 16 << 20, 10, 10, 0}}, less = {{10, 8 << 20, 5, 5, 0}};
  Account* const outer = accounts.open(accounts.root(), part, nullptr);
  outer->pay_for_pages();
  Account* const inner = accounts.open(outer, less, nullptr);
  REQUIRE(inner != nullptr);
  CHECK(inner->pays_for_pages());
  static void* blocks[std::size(kOfEveryKind) * 20 + 1];
  unsigned count = 0;
  const auto allocate = [&](std::size_t bytes) {
    const Heap::Plan plan = Heap::plan_for(bytes, 16);
    void* block = heap.take_idle_in_cage(inner->index(), plan);
    if (block == nullptr) {
      REQUIRE(Accounts::draw_below_root(inner, Heap::bytes_in_cage(plan)));
      block = heap.take_paid_in_cage(inner->index(), plan, 16);
    }
    *static_cast<unsigned*>(block) = count;
    blocks[count++] = block;
  };
  for (const std::size_t bytes : kOfEveryKind)
    for (unsigned n = 0; n < (bytes > 30'000 ? 2 : 20); n++) allocate(bytes < 4 ? 4 : bytes);
  allocate(2 << 20);  // a mapping of its own
  const std::size_t held = accounts.held(inner);
  const std::uint32_t indices[] = {inner->index(), outer->index()};
  const std::uint64_t left = accounts.left(outer, Component::kMemory) + accounts.left(inner, Component::kMemory);
  heap.hand_up(inner);
  CHECK_EQ(accounts.held(inner), 0u);
  CHECK_EQ(accounts.held(outer), held);
  accounts.close(inner);
  CHECK_EQ(accounts.left(outer, Component::kMemory), left);
  CHECK_EQ(reclaim_spans(heap, indices[0]), 0u);
  for (unsigned n = 0; n < count; n++) {
    CHECK_EQ(*static_cast<unsigned*>(blocks[n]), n);
    CHECK_EQ(heap.tag_of(blocks[n]), indices[1]);
    if (n % 2 != 0) continue;
    const Heap::Found found = heap.free(nullptr, blocks[n]);
    CHECK_EQ(found.tag, indices[1]);
    if (found.bytes != 0) accounts.credit_below_root(outer, found.bytes);
  }
  accounts.credit_below_root(outer, reclaim_spans(heap, indices[1]));
  void* huge[4];
  while (const unsigned taken = heap.take_over_huge(indices[1], huge, 4))
    for (unsigned n = 0; n < taken; n++) accounts.credit_below_root(outer, heap.free_own(nullptr, huge[n]).bytes);
  CHECK_EQ(accounts.held(outer), 0u);
  CHECK_EQ(accounts.left(outer, Component::kMemory), std::uint64_t{16} << 20);
  CHECK_EQ(heap.bytes_in_use(), 0u);
  accounts.close(outer);
  CHECK_EQ(accounts.count(), 1u);
  accounts.destroy();
  heap.destroy();
}

// --- Several threads -------------------------------------------------------------------------------------------------

// Three threads allocate in one cage each, exchange blocks, and free each other's; a block that is found must be whole.
// Now and then a thread ends its own cage: who then frees a block of it is told so, or has been before.
namespace {

constexpr unsigned kThreads = 3, kPlaces = 256;
Heap g_heap;
std::atomic<void*> g_places[kPlaces];
std::atomic<std::uint64_t> g_paid[kThreads + 1], g_wrong;

void allocate_exchange_and_end(unsigned self) {
  const std::uint32_t account = self + 1;
  std::uint64_t state = 20261128 + self;
  const int steps = test::scaled(120'000, 20'000);
  for (int step = 0; step < steps; step++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const Heap::Plan plan = Heap::plan_for(16 + (state >> 40) % (step % 256 == 0 ? 60'000 : 900), 16);
    void* block = g_heap.take_idle_in_cage(account, plan);
    if (block == nullptr) {
      g_paid[account].fetch_add(Heap::bytes_in_cage(plan));
      block = g_heap.take_paid_in_cage(account, plan, 16);
    }
    if (block == nullptr) g_wrong.fetch_add(1);
    block = g_places[state >> 33 & (kPlaces - 1)].exchange(block);
    if (block != nullptr) {
      const Heap::Found found = g_heap.free(nullptr, block);
      if (found.misuse == Misuse::kRuntimes) g_wrong.fetch_add(1);
      if (found.misuse == Misuse::kNone) g_paid[found.tag].fetch_sub(found.bytes);
    }
    if (state >> 33 & 4095) continue;
    g_paid[account].fetch_sub(reclaim_spans(g_heap, account));
  }
}

}  // namespace

TEST(cage_heap, cages_end_while_other_threads_free_their_blocks) {
  REQUIRE(g_heap.init());
  for (auto& place : g_places) place = nullptr;
  REQUIRE(ThreadGroup::run(kThreads, allocate_exchange_and_end));
  CHECK_EQ(g_wrong.load(), 0u);
  std::uint64_t paid = 0;
  for (const auto& each : g_paid) paid += each.load();
  CHECK_EQ(g_heap.bytes_in_use(), paid);
  for (std::uint32_t account = 1; account <= kThreads; account++) paid -= reclaim_spans(g_heap, account);
  CHECK_EQ(paid, 0u);
  CHECK_EQ(g_heap.bytes_in_use(), 0u);
  g_heap.destroy();
}
