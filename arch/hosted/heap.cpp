// SPDX-License-Identifier: Apache-2.0
// arch/hosted/heap.cpp — rt/mem/heap.h with each block allocated by the C library's malloc. So AddressSanitizer knows a
// block's bounds and the code that allocated and freed it, the leak checker knows the code that lost it, and valgrind
// knows all of that. Blocks are charged as on the other machines. The runtime's own blocks are allocated below the
// sanitizer's interceptors: the tasks are watched, the runtime is not.
#include "rt/mem/heap.h"

#include <sys/mman.h>

#include <cstdlib>

#include "arch/hosted/sanitizers.h"
#include "rt/base/spinlock.h"
#include "rt/mem/pages.h"

// The C library's own functions, which sanitizers do not replace. (They do replace __libc_memalign.)
extern "C" {
void* __libc_malloc(std::size_t bytes);
void __libc_free(void* block);
}

namespace janus {
namespace {

// The record of one block. Once the block was freed, the record is reused for the next block at its address.
struct Entry {
  void* start;
  Heap* heap;
  Entry* next;        // in its bucket, or in the list of spare entries
  std::size_t bytes;  // the size that is charged
  std::size_t asked;  // the size that was asked for
  std::uint32_t tag;
  bool is_runtimes;  // allocated for the runtime, even if a user holds it now
};

// A hash table of the blocks of all heaps of the process, by address. Freed blocks stay in it, so that they are
// recognised as freed.
class Blocks {
 public:
  // Returns false if there is no memory for the entry.
  bool add(void* start, Heap* heap, const Heap::Plan& plan, std::uint32_t tag, bool is_runtimes) noexcept {
    LockGuard guard(lock_);
    Entry* entry = find(start);
    if (entry == nullptr) {
      if (spare_ == nullptr && !make_more()) return false;
      entry = spare_;
      spare_ = entry->next;
      Entry*& bucket = bucket_of(start);
      entry->start = start;
      entry->next = bucket;
      bucket = entry;
    }
    *entry = {start, heap, entry->next, plan.bytes, plan.asked, tag, is_runtimes};
    in_use_ += plan.bytes;
    if (is_shown_ && is_runtimes) show(*entry);
    return true;
  }

  // If `holder` holds the block, sets its tag to `after`, copies the entry as it was before to `was`, and returns
  // kNone.
  Misuse change(Heap* heap, const void* start, Holder holder, std::uint32_t after, Entry& was) noexcept {
    LockGuard guard(lock_);
    Entry* const entry = find(start);
    if (entry == nullptr || entry->heap != heap) return Misuse::kNoBlock;
    if (holder_of(entry->tag) != holder) return entry->tag == kFreeTag ? Misuse::kFreed : Misuse::kRuntimes;
    was = *entry;
    entry->tag = after != kRuntimeTag ? after : entry->tag | kRuntimeTag;
    if (after == kFreeTag) in_use_ -= was.bytes;
    return Misuse::kNone;
  }

  // Copies the block's entry to `out`; returns false if there is none.
  bool look_at(Heap* heap, const void* start, Entry& out) noexcept {
    LockGuard guard(lock_);
    const Entry* const entry = find(start);
    if (entry == nullptr || entry->heap != heap) return false;
    out = *entry;
    return true;
  }

  // Implements Heap::take_over_next(), one bucket after the other.
  unsigned take_over_next(Heap* heap, Heap::Walk& walk, const TagFilter& is_meant, void** out, unsigned most) noexcept {
    LockGuard guard(lock_);
    unsigned taken = 0;
    for (unsigned n = 0; n < Heap::kWalkPages && walk.chunk < kBuckets; ++n, ++walk.chunk) {
      for (Entry* entry = buckets_[walk.chunk]; entry != nullptr; entry = entry->next) {
        if (entry->heap != heap || holder_of(entry->tag) != Holder::kUser || !is_meant(entry->tag)) continue;
        if (taken == most) return taken;  // the next call begins with this bucket
        entry->tag |= kRuntimeTag;
        out[taken++] = entry->start;
      }
    }
    walk.is_over = walk.chunk == kBuckets;
    return taken;
  }

  // Takes any block of that heap out, whether a user or the runtime holds it. Returns nullptr if there are no more.
  void* take_any(Heap* heap, std::size_t& bucket, bool& is_runtimes) noexcept {
    LockGuard guard(lock_);
    for (; bucket < kBuckets; ++bucket) {
      for (Entry* entry = buckets_[bucket]; entry != nullptr; entry = entry->next) {
        if (entry->heap != heap || entry->tag == kFreeTag) continue;
        entry->tag = kFreeTag;
        in_use_ -= entry->bytes;
        is_runtimes = entry->is_runtimes;
        return entry->start;
      }
    }
    return nullptr;
  }

  // Shows the runtime's blocks (among them channels) to the leak checker: a block that only an element of a channel
  // points to is not lost. From now on add() shows new ones, too, because tasks run on until the process is gone.
  void show_to_leak_checker() noexcept {
    LockGuard guard(lock_);
    is_shown_ = true;
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket)
      for (const Entry* entry = buckets_[bucket]; entry != nullptr; entry = entry->next)
        if (entry->is_runtimes && entry->tag != kFreeTag) show(*entry);
  }

  std::size_t in_use() noexcept {
    LockGuard guard(lock_);
    return in_use_;
  }

 private:
  static constexpr std::size_t kBuckets = 1 << 16;

  Entry*& bucket_of(const void* start) noexcept {
    return buckets_[((address_of(start) >> 4) * 0x9e3779b97f4a7c15u) >> 48];  // Fibonacci hashing
  }
  Entry* find(const void* start) noexcept {
    Entry* entry = bucket_of(start);
    while (entry != nullptr && entry->start != start) entry = entry->next;
    return entry;
  }
  static void show(const Entry& entry) noexcept { __lsan_register_root_region(entry.start, entry.bytes); }
  // This memory is never freed. Not from malloc: the leak checker would find the blocks through the table and never
  // report one as lost.
  bool make_more() noexcept {
    constexpr std::size_t kBytes = 1 << 18;
    void* const pages = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return false;
    auto* const entries = static_cast<Entry*>(pages);
    for (std::size_t i = 0; i < kBytes / sizeof *entries; ++i) {
      entries[i].next = spare_;
      spare_ = &entries[i];
    }
    return true;
  }

  SpinLock lock_;
  Entry* spare_ = nullptr;
  std::size_t in_use_ = 0;
  bool is_shown_ = false;
  Entry** buckets_ = static_cast<Entry**>(
      mmap(nullptr, kBuckets * sizeof(void*), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
};

Blocks& blocks() noexcept {
  static Blocks all;
  return all;
}
[[gnu::constructor]] void make_table() {
  (void)blocks();
  if (__lsan_register_root_region != nullptr) std::atexit([] { blocks().show_to_leak_checker(); });
}

void give_back(void* block, bool is_runtimes) noexcept {
  is_runtimes ? __libc_free(block) : std::free(block);
}

}  // namespace

void* Heap::allocate(HeapCache*, Plan plan, std::size_t align, std::uint32_t tag) noexcept {
  const bool is_runtimes = holder_of(tag) == Holder::kRuntime;
  const std::size_t at = align > 16 ? align : 16;
  void* block = nullptr;
  if (is_runtimes)
    block = __libc_malloc(plan.bytes);  // aligned to 16, and no block of the runtime's own needs more
  else if (at == 16)
    block = std::malloc(sanitizers::has_address() ? (plan.asked != 0 ? plan.asked : 1) : plan.bytes);
  else if (posix_memalign(&block, at, sanitizers::has_address() ? plan.asked : plan.bytes) != 0)
    block = nullptr;
  if (block == nullptr || blocks().add(block, this, plan, tag, is_runtimes)) return block;
  give_back(block, is_runtimes);
  return nullptr;
}

Heap::Found Heap::free(HeapCache*, void* block) noexcept {
  if (block == nullptr) return {0, kFreeTag, Misuse::kNone};
  Entry was{};
  const Misuse misuse = blocks().change(this, block, Holder::kUser, kFreeTag, was);
  if (misuse == Misuse::kFreed && sanitizers::has_address()) std::free(block);  // reports it and ends the process
  if (misuse != Misuse::kNone) return {0, kFreeTag, misuse};
  give_back(block, was.is_runtimes);
  return {was.bytes, was.tag, Misuse::kNone};
}

Heap::Found Heap::free_own(HeapCache*, void* block) noexcept {
  Entry was{};
  if (blocks().change(this, block, Holder::kRuntime, kFreeTag, was) != Misuse::kNone)
    end_for_damage("the runtime frees what it does not hold:", block);
  give_back(block, was.is_runtimes);
  return {was.bytes, was.tag & ~kRuntimeTag, Misuse::kNone};
}

Heap::Found Heap::take_over(void* block) noexcept {
  Entry was{};
  const Misuse misuse = blocks().change(this, block, Holder::kUser, kRuntimeTag, was);
  if (misuse != Misuse::kNone) return {0, kFreeTag, misuse};
  return {was.bytes, was.tag, Misuse::kNone};
}

unsigned Heap::take_over_next(Walk& walk, const TagFilter& is_meant, void** out, unsigned most) noexcept {
  return blocks().take_over_next(this, walk, is_meant, out, most);
}

Heap::Found Heap::look_at(const void* block) noexcept {
  Entry entry{};
  if (!blocks().look_at(this, block, entry)) return {0, kFreeTag, Misuse::kNoBlock};
  if (entry.tag == kFreeTag) return {0, kFreeTag, Misuse::kFreed};
  return {entry.bytes, entry.tag, holder_of(entry.tag) == Holder::kUser ? Misuse::kNone : Misuse::kRuntimes};
}

std::size_t Heap::asked_for(const void* block) noexcept {
  Entry entry{};
  return blocks().look_at(this, block, entry) ? entry.asked : 0;
}

void Heap::flush(HeapCache&) noexcept {}
void Heap::trim() noexcept {}

std::size_t Heap::bytes_in_use() noexcept {
  return blocks().in_use();
}
std::size_t Heap::bytes_mapped() noexcept {
  return blocks().in_use();
}
std::size_t Heap::mappings() noexcept {
  return 1;
}

bool Heap::init() noexcept {
  return true;
}

// Blocks that were never freed are freed with their runtime, as on the other machines.
void Heap::destroy() noexcept {
  std::size_t bucket = 0;
  bool is_runtimes = false;
  while (void* const block = blocks().take_any(this, bucket, is_runtimes)) give_back(block, is_runtimes);
}

}  // namespace janus
