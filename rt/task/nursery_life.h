// SPDX-License-Identifier: Apache-2.0
// rt/task/nursery_life.h — the three words by which a nursery, its children and those who come from elsewhere agree on
// its end, and the steps that change them. tests/models/nursery_model_test.cpp runs these very functions.
#pragma once

#include <cstdint>

#include "rt/base/assert.h"
#include "rt/base/atomic.h"
#include "rt/platform.h"

namespace janus {

struct NurseryWord {
  static constexpr std::uint64_t kClosed = 1;       // no more spawns
  static constexpr std::uint64_t kCancelled = 2;    // children are told to end; no more spawns either
  static constexpr std::uint64_t kShared = 4;       // the count is all there is
  static constexpr std::uint64_t kWaiter = 8;       // the owner waits: who makes it terminal wakes it
  static constexpr std::uint64_t kDeadlocked = 16;  // cancelled because nothing in the runtime could run any more
  static constexpr std::uint64_t kChild = 256;      // the count stands above the flags, in two's complement

  static bool is_terminal(std::uint64_t word) noexcept {
    return word < kChild && (word & kShared) != 0 && (word & (kClosed | kCancelled)) != 0;
  }
};

// What `alive` says.
struct NurseryAlive {
  static constexpr std::uint32_t kAlive = 0x4a4e5253;
  static constexpr std::uint32_t kDrawing = kAlive + 1;  // and every spawn is charged
  static constexpr std::uint32_t kClosing = kAlive + 2;  // its owner awaits it: refuses spawns as kClosed does
  static constexpr std::uint32_t kEnding = kAlive + 3;   // for a moment; see NurseryLife
  static bool is_alive(std::uint32_t alive) noexcept { return alive - kAlive <= kEnding - kAlive; }
  static bool is_closing(std::uint32_t alive) noexcept { return alive == kClosing || alive == kEnding; }
};

// INVARIANT no-late-visitor: whoever is valid changes the word of the nursery that it found, which does not end before;
// and a record is clean when it serves the next. Whoever changes the word of somebody else's nursery announces it
// first, since as long as it is private its owner may end it without an atomic operation.
//   visitor: 1 external_refs += 1   2 heavy fence   3 still alive? then change the word   4 external_refs -= 1
//   owner:   1 alive = kEnding      2 light fence   3 no external_refs, and nothing in the word? then it is gone
// Else the owner says that it is alive again, ends it atomically, and waits until there are none. So whoever is second
// sees the other's step 1. A visitor that finds it ending comes again: it may be alive after all.
struct NurseryLife : NurseryAlive {
  Atomic<std::uint64_t>& word;
  Atomic<std::uint32_t>& alive;
  Atomic<std::uint32_t>& external_refs;

  [[gnu::always_inline]] NurseryLife(Atomic<std::uint64_t>& its_word, Atomic<std::uint32_t>& its_alive,
                                     Atomic<std::uint32_t>& its_refs) noexcept
      : word(its_word), alive(its_alive), external_refs(its_refs) {}

  // --- From elsewhere ---

  // Steps 1 to 3. False: it is gone. True: leave() comes later.
  [[nodiscard, gnu::always_inline]] bool visit() const noexcept {
    for (;;) {
      external_refs.fetch_add(1, std::memory_order_seq_cst);
      // One that is shared ends atomically, and whom the record serves next sees a visitor that came before.
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

  // As a visitor. `seen`: the word, some time ago. False: it is closed.
  [[nodiscard, gnu::always_inline]] bool count_in(std::uint64_t seen) const noexcept {
    constexpr std::uint64_t kShut = NurseryWord::kClosed | NurseryWord::kCancelled;
    do {
      if ((seen & kShut) != 0) return false;
    } while (!word.compare_exchange_weak(seen, seen + NurseryWord::kChild, std::memory_order_acq_rel,
                                         std::memory_order_relaxed));
    return true;
  }

  // As a visitor. Nobody has to be woken: whoever waits for its end has closed it before.
  [[gnu::always_inline]] void close() const noexcept { word.fetch_or(NurseryWord::kClosed, std::memory_order_acq_rel); }

  // As a visitor. Closes it, too, and counts the visitor in, who counts itself out when it has told the children.
  // False: it has ended, or somebody else has cancelled it.
  [[nodiscard, gnu::always_inline]] bool cancel() const noexcept {
    constexpr std::uint64_t kMarks = NurseryWord::kCancelled | NurseryWord::kClosed;
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    do {
      if (NurseryWord::is_terminal(seen) || (seen & NurseryWord::kCancelled) != 0) return false;
    } while (!word.compare_exchange_weak(seen, (seen | kMarks) + NurseryWord::kChild, std::memory_order_acq_rel,
                                         std::memory_order_relaxed));
    return true;
  }

  // Whoever was counted in keeps it from its end. True: it has made it terminal, and its owner waits.
  [[nodiscard, gnu::always_inline]] bool count_out() const noexcept {
    const std::uint64_t before = word.fetch_sub(NurseryWord::kChild, std::memory_order_acq_rel);
    JANUS_ASSERT(!NurseryWord::is_terminal(before));  // nursery-ends-once
    return NurseryWord::is_terminal(before - NurseryWord::kChild) && (before & NurseryWord::kWaiter) != 0;
  }

  // --- Its owner ---

  // On its home worker, where no child is counted plainly: whether nobody else has anything to do with it. Only where
  // there is a heavy fence. True: it ends with this, and nobody will find it.
  [[nodiscard, gnu::always_inline]] bool end_alone() const noexcept {
    alive.store(kEnding, std::memory_order_relaxed);
    compiler_barrier();  // the partner is the heavy fence of visit()
    return external_refs.load(std::memory_order_acquire) == 0 && word.load(std::memory_order_acquire) == 0;
  }

  // `children`, counted plainly until now, move into the word, and `flags`; the word after that.
  [[gnu::always_inline]] std::uint64_t share(std::int64_t children, std::uint64_t flags) const noexcept {
    const std::uint64_t count = static_cast<std::uint64_t>(children) * NurseryWord::kChild;
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    while (!word.compare_exchange_weak(seen, (seen + count) | NurseryWord::kShared | flags, std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
    }
    return (seen + count) | NurseryWord::kShared | flags;
  }

  // Terminal, and in nobody's list: clean, once the last visitor has left.
  [[gnu::always_inline]] void reset() const noexcept {
    alive.store(0, std::memory_order_seq_cst);
    full_fence();  // the partner is visit(), which sees that the nursery is shared
    while (external_refs.load(std::memory_order_acquire) != 0) pause();
    word.exchange(0, std::memory_order_seq_cst);  // or a visitor of the next use might still see this one's
  }
};

}  // namespace janus
