// SPDX-License-Identifier: Apache-2.0
// rt/task/record/nursery_life.h — the three words by which a nursery, its children and visitors agree on its end, and
// the steps that change them. tests/models/nursery_model_test.cpp runs these very functions.
#pragma once

#include <cstdint>

#include "rt/base/assert.h"
#include "rt/base/atomic.h"
#include "rt/platform.h"

namespace janus {

struct NurseryWord {
  static constexpr std::uint64_t kClosed = 1;        // no more spawns
  static constexpr std::uint64_t kCancelled = 2;     // children are told to end; no more spawns either
  static constexpr std::uint64_t kShared = 4;        // the count in `word` is the whole count
  static constexpr std::uint64_t kWaiter = 8;        // the owner waits, and the end wakes it
  static constexpr std::uint64_t kDeadlocked = 16;   // cancelled because nothing in the runtime could run any more
  static constexpr std::uint64_t kShielded = 32;     // its owner's shield keeps cancels from above away from it
  static constexpr std::uint64_t kOwnersGrace = 64;  // opened in a shield: tasks below spend its owner's grace
  static constexpr std::uint64_t kAnyEnd = 128;   // with kWaiter: also the end of a child that leaves a record wakes it
  static constexpr std::uint64_t kPassing = 256;  // its owner has inherited values (rt/task/account/inherited.h)
  static constexpr std::uint64_t kChild = 512;    // unit of the count, which is above the flags, in two's complement

  static bool is_terminal(std::uint64_t word) noexcept {
    return word < kChild && (word & kShared) != 0 && (word & (kClosed | kCancelled)) != 0;
  }
};

// The values of `alive`.
struct NurseryAlive {
  static constexpr std::uint32_t kAlive = 0x4a4e5253;
  // kAlive, and every spawn is charged, needs a right, or passes inherited values on
  static constexpr std::uint32_t kDrawing = kAlive + 1;
  static constexpr std::uint32_t kClosing = kAlive + 2;  // its owner awaits it: it refuses spawns as with kClosed
  static constexpr std::uint32_t kEnding = kAlive + 3;   // for a short time; see NurseryLife
  static bool is_alive(std::uint32_t alive) noexcept { return alive - kAlive <= kEnding - kAlive; }
  static bool is_closing(std::uint32_t alive) noexcept { return alive == kClosing || alive == kEnding; }
};

// INVARIANT no-late-visitor: the nursery that a valid visitor found does not end before the visitor has changed its
// word; and a record is clean when it serves the next nursery. A visitor is a thread that is not the nursery's home
// worker and changes its word. It announces itself first, since the owner of a private nursery may end it without an
// atomic operation.
//   visitor: 1 external_refs += 1   2 heavy fence   3 still alive? then change the word   4 external_refs -= 1
//   owner:   1 alive = kEnding      2 light fence   3 no external_refs, and nothing in the word? then it is gone
// The fences let at least one of the two see the other's step 1. If the owner sees a visitor or a changed word, it
// stores kClosing, ends the nursery atomically, and waits until there are no visitors. So a visitor that finds kEnding
// tries again.
struct NurseryLife : NurseryAlive {
  Atomic<std::uint64_t>& word;
  Atomic<std::uint32_t>& alive;
  Atomic<std::uint32_t>& external_refs;

  [[gnu::always_inline]] NurseryLife(Atomic<std::uint64_t>& its_word, Atomic<std::uint32_t>& its_alive,
                                     Atomic<std::uint32_t>& its_refs) noexcept
      : word(its_word), alive(its_alive), external_refs(its_refs) {}

  // --- For visitors ---

  // Steps 1 to 3. False: the nursery has ended. True: the visitor has to call leave().
  [[nodiscard, gnu::always_inline]] bool visit() const noexcept {
    for (;;) {
      external_refs.fetch_add(1, std::memory_order_seq_cst);
      // A shared nursery needs no heavy fence: it ends atomically, and reset() sees a visitor that came before.
      const bool is_shared = (word.load(std::memory_order_seq_cst) & NurseryWord::kShared) != 0;
      if (!is_shared && platform::has_heavy_fence()) platform::heavy_fence();
      const std::uint32_t seen = alive.load(std::memory_order_acquire);
      const bool is_valid = is_alive(seen) && seen != kEnding;
      if (is_valid) return true;
      external_refs.fetch_sub(1, std::memory_order_release);
      if (seen != kEnding) return false;
      pause();
    }
  }
  [[gnu::always_inline]] void leave() const noexcept { external_refs.fetch_sub(1, std::memory_order_release); }

  // As a visitor. `seen`: an earlier value of the word. False: the nursery is closed.
  [[nodiscard, gnu::always_inline]] bool count_in(std::uint64_t seen) const noexcept {
    constexpr std::uint64_t kShut = NurseryWord::kClosed | NurseryWord::kCancelled;
    do {
      if ((seen & kShut) != 0) return false;
    } while (!word.compare_exchange_weak(seen, seen + NurseryWord::kChild, std::memory_order_acq_rel,
                                         std::memory_order_relaxed));
    return true;
  }

  // As a visitor. Wakes no owner: an owner that waits for the end has closed the nursery already.
  [[gnu::always_inline]] void close() const noexcept { word.fetch_or(NurseryWord::kClosed, std::memory_order_acq_rel); }

  // As a visitor. Also closes the nursery, and counts the visitor in, which counts itself out when it has told the
  // children. False: the nursery has ended, or another visitor has cancelled it.
  [[nodiscard, gnu::always_inline]] bool cancel() const noexcept {
    constexpr std::uint64_t kMarks = NurseryWord::kCancelled | NurseryWord::kClosed;
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    do {
      if (NurseryWord::is_terminal(seen) || (seen & NurseryWord::kCancelled) != 0) return false;
    } while (!word.compare_exchange_weak(seen, (seen | kMarks) + NurseryWord::kChild, std::memory_order_acq_rel,
                                         std::memory_order_relaxed));
    return true;
  }

  // Ends the hold of a counted child or visitor on the nursery. True: its owner waits, and this was the last one; or,
  // with a record, the owner waits for any end. Who awaits the nursery has closed it, so it is terminal then.
  template <bool kHasRecord = false>
  [[nodiscard, gnu::always_inline]] bool count_out() const noexcept {
    const std::uint64_t before = word.fetch_sub(NurseryWord::kChild, std::memory_order_acq_rel);
    JANUS_ASSERT(!NurseryWord::is_terminal(before));  // nursery-ends-once
    if ((before & NurseryWord::kWaiter) == 0) return false;
    return before - NurseryWord::kChild < NurseryWord::kChild || (kHasRecord && (before & NurseryWord::kAnyEnd) != 0);
  }

  // --- For the owner ---

  // On the home worker, with no child in `local_count`: ends the nursery if no other thread uses it. Requires a machine
  // with a heavy fence. True: it has ended, and no visitor will find it.
  [[nodiscard, gnu::always_inline]] bool end_alone() const noexcept {
    alive.store(kEnding, std::memory_order_relaxed);
    compiler_barrier();  // the partner is the heavy fence of visit()
    return external_refs.load(std::memory_order_acquire) == 0 && word.load(std::memory_order_acquire) == 0;
  }

  // Moves `children`, the count so far in `local_count`, and `flags` into the word. Returns the new word.
  [[gnu::always_inline]] std::uint64_t share(std::int64_t children, std::uint64_t flags) const noexcept {
    const std::uint64_t count = static_cast<std::uint64_t>(children) * NurseryWord::kChild;
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    while (!word.compare_exchange_weak(seen, (seen + count) | NurseryWord::kShared | flags, std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
    }
    return (seen + count) | NurseryWord::kShared | flags;
  }

  // For a terminal nursery that is in no list: waits until the last visitor has left, and clears the word.
  [[gnu::always_inline]] void reset() const noexcept {
    alive.store(0, std::memory_order_seq_cst);
    full_fence();  // partner: visit(), which then sees that the nursery is shared
    while (external_refs.load(std::memory_order_acquire) != 0) pause();
    word.exchange(0, std::memory_order_seq_cst);  // so that no visitor of the next nursery sees the old word
  }
};

}  // namespace janus
