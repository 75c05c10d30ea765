// SPDX-License-Identifier: Apache-2.0
// fuzz_test.cpp — several threads allocate, move and free blocks at random, and try at random to free what they may
// not. Each thread has a model of the blocks that it holds. Every use of a block checks its size, tag and contents;
// every misuse must be reported as its kind and change nothing; at the end the counts agree to the byte.
#include <new>

#include "rt/mem/heap.h"
#include "tests/harness/scale.h"
#include "tests/harness/thread_group.h"

using namespace janus;
using janus::test::ThreadGroup;

namespace {

constexpr unsigned kThreads = 4;  // thread 0 acts as a thread outside tasks: it has no cache
constexpr unsigned kMaxHeld = 400;
constexpr unsigned kContested = 96;  // blocks of each thread that all threads free at once

struct Random {
  std::uint64_t state;
  std::uint64_t next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
  }
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }
};

struct Held {
  unsigned char* block;
  std::size_t bytes;  // usable bytes
  Heap::Kind kind;
  std::uint32_t tag;
};

Heap* g_heap;
HeapCache g_caches[kThreads];
std::atomic<unsigned> g_wrong;
std::atomic<std::size_t> g_held_bytes;  // by all models, summed up between rounds
std::atomic<std::uint32_t> g_arrived, g_round;
std::atomic<void*> g_contested[kThreads * kContested];
std::atomic<unsigned> g_wins[kThreads * kContested];
std::uint64_t g_seed;

// The steps of a seed are the same in every build; only the order among the threads differs.
int rounds() {
  return test::scaled(40, test::kIsWatched ? 12 : 6);
}
// Records the line of an expectation that failed. 0: none failed.
void expect(bool claim, unsigned line = __builtin_LINE()) {
  if (!claim) g_wrong.store(line, std::memory_order_relaxed);
}

// A barrier for all threads.
void meet() {
  const std::uint32_t round = g_round.load(std::memory_order_acquire);
  if (g_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == kThreads) {
    g_arrived.store(0, std::memory_order_relaxed);
    g_round.fetch_add(1, std::memory_order_release);
    platform::wake(g_round, kThreads);
    return;
  }
  while (g_round.load(std::memory_order_acquire) == round) platform::wait(g_round, round, platform::kForever);
}

class Model {
 public:
  explicit Model(unsigned self) : random_{g_seed * kThreads + self}, self_(self) {}

  void step() {
    const std::uint64_t dice = random_.below(100);
    if (dice < 40 || count_ == 0)
      take();
    else if (dice < 70)
      give(static_cast<unsigned>(random_.below(count_)));
    else if (dice < 80)
      move(static_cast<unsigned>(random_.below(count_)));
    else
      misuse(held_[random_.below(count_)]);
  }
  void contest() {
    for (unsigned n = 0; n < kContested; n++) {
      void* const block = g_heap->allocate(cache(), random_size(), 16, 1 + self_);
      expect(block != nullptr);
      g_contested[self_ * kContested + n].store(block, std::memory_order_relaxed);
      g_wins[self_ * kContested + n].store(0, std::memory_order_relaxed);
    }
    meet();  // until the next barrier nobody allocates, so no address is reused
    for (unsigned n = 0; n < kThreads * kContested; n++) free_contested(n);
    meet();
    for (unsigned n = 0; n < kContested; n++) expect(g_wins[self_ * kContested + n].load() == 1);
  }
  void rest() {
    std::size_t sum = 0;
    for (unsigned n = 0; n < count_; n++) sum += held_[n].bytes;
    g_held_bytes.fetch_add(sum, std::memory_order_relaxed);
    meet();
    if (self_ == 0) {
      expect(g_heap->bytes_in_use() == g_held_bytes.load(std::memory_order_relaxed));
      g_held_bytes.store(0, std::memory_order_relaxed);
    }
    meet();
  }
  void give_all() {
    while (count_ != 0) give(count_ - 1);
    if (cache() != nullptr) g_heap->flush(*cache());
  }

 private:
  HeapCache* cache() const { return self_ == 0 ? nullptr : &g_caches[self_]; }
  std::size_t random_size() {
    const std::uint64_t kind = random_.below(1000);
    if (kind < 940) return random_.below(600);
    if (kind < 990) return random_.below(40'000);
    return random_.below(kind < 998 ? 400'000 : 3'000'000);
  }

  static void fill(const Held& held) {
    for (std::size_t n = 0; n < held.bytes; n += n < 64 ? 1 : 509)
      held.block[n] = static_cast<unsigned char>(held.tag + n);
  }
  void look_at(const Held& held) {
    const Heap::Found found = g_heap->look_at(held.block);
    expect(found.bytes == held.bytes && found.tag == held.tag);
    expect(found.misuse == (held.tag < kRuntimeTag ? Misuse::kNone : Misuse::kRuntimes));
    bool is_kept = true;
    for (std::size_t n = 0; n < held.bytes; n += n < 64 ? 1 : 509)
      is_kept = is_kept && held.block[n] == static_cast<unsigned char>(held.tag + n);
    expect(is_kept);
  }

  void take() {
    if (count_ == kMaxHeld) return give(static_cast<unsigned>(random_.below(count_)));
    const std::size_t bytes = random_size(), align = random_.below(16) == 0 ? std::size_t{1} << random_.below(13) : 16;
    const auto number = static_cast<std::uint32_t>(random_.below(1 << 24) + 1);
    Held& held = held_[count_];
    held.tag = random_.below(8) == 0 ? number | kRuntimeTag : number;
    const Heap::Plan plan = Heap::plan_for(bytes, align);
    held.block = static_cast<unsigned char*>(g_heap->allocate(cache(), plan, align, held.tag));
    held.bytes = plan.bytes;
    held.kind = plan.kind;
    if (held.block == nullptr) return expect(false);
    fill(held);
    count_++;
  }
  void give(unsigned n) {
    const Held held = held_[n];
    look_at(held);
    held_[n] = held_[--count_];
    const bool is_own = held.tag >= kRuntimeTag;
    const Heap::Found freed = is_own ? g_heap->free_own(cache(), held.block) : g_heap->free(cache(), held.block);
    expect(freed.misuse == Misuse::kNone && freed.bytes == held.bytes && freed.tag == (held.tag & ~kRuntimeTag));
    // The freed small block is in this thread's own cache, so no other thread can get it: a second free is safe to try.
    if (cache() != nullptr && held.kind == Heap::Kind::kSmall && random_.below(4) == 0) {
      expect(g_heap->free(cache(), held.block).misuse == Misuse::kFreed);
      expect(g_heap->free(nullptr, held.block).misuse == Misuse::kFreed);
      expect(g_heap->take_over(held.block).misuse == Misuse::kFreed);
      expect(g_heap->look_at(held.block).bytes == 0);
    }
  }
  // Moves a block with the steps of janus_realloc.
  void move(unsigned n) {
    Held& held = held_[n];
    if (held.tag >= kRuntimeTag) return;
    look_at(held);
    const std::size_t bytes = random_size();
    const Heap::Plan plan = Heap::plan_for(bytes, 16);
    auto* const moved = static_cast<unsigned char*>(g_heap->allocate(cache(), plan, 16, held.tag));
    const Heap::Found old = g_heap->take_over(held.block);
    expect(moved != nullptr && old.misuse == Misuse::kNone && old.bytes == held.bytes && old.tag == held.tag);
    expect(g_heap->free(cache(), held.block).misuse == Misuse::kRuntimes);
    expect(g_heap->free_own(cache(), held.block).tag == held.tag);
    held.block = moved;
    held.bytes = plan.bytes;
    held.kind = plan.kind;
    fill(held);
  }
  void misuse(const Held& held) {
    alignas(16) unsigned char local[64];
    const std::size_t inside = 1 + random_.below(held.bytes - 1);
    void* const nowhere[] = {held.block + inside,
                             local + 16,
                             g_heap,
                             reinterpret_cast<void*>(std::uintptr_t{8}),
                             reinterpret_cast<void*>(~random_.next()),
                             reinterpret_cast<void*>(random_.next() << 40 | std::uintptr_t{1} << 63)};
    expect(g_heap->free(cache(), nowhere[random_.below(6)]).misuse == Misuse::kNoBlock);
    if (held.tag < kRuntimeTag) return;
    expect(g_heap->free(cache(), held.block).misuse == Misuse::kRuntimes);
    expect(g_heap->take_over(held.block).misuse == Misuse::kRuntimes);
    look_at(held);
  }

  void free_contested(unsigned n) {
    const Heap::Found freed = g_heap->free(cache(), g_contested[n].load(std::memory_order_relaxed));
    if (freed.misuse != Misuse::kNone) return expect(freed.bytes == 0);
    expect(freed.tag == 1 + n / kContested);
    g_wins[n].fetch_add(1, std::memory_order_relaxed);
  }

  Random random_;
  const unsigned self_;
  unsigned count_ = 0;
  Held held_[kMaxHeld];
};

alignas(Model) std::byte g_models[kThreads][sizeof(Model)];  // too large for a thread's stack

void fuzz(unsigned self) {
  Model& model = *new (g_models[self]) Model(self);
  for (int round = rounds(); round != 0; round--) {
    for (unsigned n = 0; n < 1000; n++) model.step();
    model.contest();
    model.rest();
  }
  model.give_all();
}

}  // namespace

TEST(fuzz, the_heap_agrees_with_its_callers_whatever_they_try_to_free) {
  static Heap heaps[3];
  for (Heap& heap : heaps) {
    g_heap = &heap;
    g_seed = test::environment_number("JANUS_TEST_SEED", 0) * 3 + static_cast<std::uint64_t>(&heap - heaps) + 1;
    g_wrong = 0;
    REQUIRE(g_heap->init());
    REQUIRE(ThreadGroup::run(kThreads, fuzz));
    CHECK_EQ(g_wrong.load(), 0u);
    CHECK_EQ(g_heap->bytes_in_use(), 0u);
    g_heap->destroy();
  }
}
