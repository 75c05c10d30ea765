// SPDX-License-Identifier: Apache-2.0
// rt/sched/timer_wheel.h — pending timers, in order of their times, and first in, first out among equal times: a
// hierarchical timing wheel (Varghese and Lauck, 1987) whose levels are the digits of the time itself, in nanoseconds. It
// needs no memory but the timers', and each of its steps is bounded. docs/decisions/0330
//
// A timer's level is the highest digit, in base 64, in which its time differs from `base_`, and its slot there is that
// digit. So all timers of a level expire before those of the next higher one, and those of a slot before those of the
// slots behind it.
//
// INVARIANT wheel-in-order: `base_` is at most the time of each timer, and grows only up to the beginning of the first
// slot that has timers. Then that slot's timers move to lower levels, in their order. Nothing is inserted among them
// meanwhile: a timer for the same range goes behind them.
//
// INVARIANT short-lists-stay: a first slot of at most kShort timers is searched where it stands. So the earliest time is
// known exactly if few timers are near, and a single timer never moves.
#pragma once

#include <cstdint>

#include "rt/base/assert.h"

namespace janus {

// In memory that its owner keeps until the timer has been taken or cancelled. All zero bytes: not in a wheel.
struct Timer {
  Timer* next;
  Timer* previous;
  std::uint64_t at;           // ns
  std::uint32_t group;        // which pays for the time that it takes to let it fire (rt/sched/groups.h)
  std::uint16_t owners_word;  // of the layer above, for any use
  bool is_of_nursery;         // of the layer above: hooks::on_timer() tells its two kinds of timers by it

  [[nodiscard]] bool is_pending() const noexcept { return next != nullptr; }
};

// Not thread-safe. All zero bytes are a valid wheel, without timers.
class TimerWheel {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  // A time that is not later than `now`, or than a time that take_due() was given, is as good as that.
  void insert(Timer& timer, std::uint64_t at, std::uint64_t now) noexcept;
  // Of a pending timer. Knows neither its slot nor its wheel.
  static void cancel(Timer& timer) noexcept {
    timer.next->previous = timer.previous;
    timer.previous->next = timer.next;
    timer.next = timer.previous = nullptr;
  }
  // No timer is due before that; the earliest one's time if few are near. kNever: there is none.
  [[nodiscard]] std::uint64_t bound() noexcept;
  // Takes the earliest timer if it is due. nullptr: none is due; or, if is_unsettled() then, the caller has to call again.
  [[nodiscard]] Timer* take_due(std::uint64_t now) noexcept;
  // A long list is being moved, a part at a time.
  [[nodiscard]] bool is_unsettled() const noexcept { return moving_.next != nullptr && moving_.next != &moving_; }

 private:
  static constexpr unsigned kDigitBits = 6, kSlots = 1u << kDigitBits, kLevels = (64 + kDigitBits - 1) / kDigitBits;
  static constexpr unsigned kShort = 16, kMovesAtOnce = 64;

  // The head of a slot's list; valid if the slot's bit is set. With the bit set the list may be empty, after cancels.
  struct Slot {
    unsigned level, index;
  };
  [[nodiscard]] Timer& head(Slot slot) noexcept { return heads_[slot.level][slot.index]; }
  static void make_empty(Timer& head) noexcept { head.next = head.previous = &head; }
  [[nodiscard]] static bool is_empty(const Timer& head) noexcept { return head.next == &head; }
  static void append(Timer& head, Timer& timer) noexcept;
  // The time at which the slot begins.
  [[nodiscard]] std::uint64_t start_of(Slot slot) const noexcept;
  void place(Timer& timer) noexcept;
  [[nodiscard]] bool find_first(Slot& slot) noexcept;
  [[nodiscard]] static Timer* earliest_of_short(Timer& head) noexcept;
  void begin_moving(Slot slot) noexcept;
  [[nodiscard]] bool settle(unsigned& moves) noexcept;

  std::uint64_t base_;
  std::uint64_t moving_end_;  // while is_unsettled(): the last time of the list's range
  Timer moving_;              // head of the list that is being moved to lower levels
  std::uint64_t occupied_[kLevels];
  Timer heads_[kLevels][kSlots];
};

}  // namespace janus
