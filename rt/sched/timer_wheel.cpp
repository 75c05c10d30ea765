// SPDX-License-Identifier: Apache-2.0
// rt/sched/timer_wheel.cpp — pending timers, in order of their times.
#include "rt/sched/timer_wheel.h"

namespace janus {

void TimerWheel::append(Timer& head, Timer& timer) noexcept {
  timer.next = &head;
  timer.previous = head.previous;
  head.previous->next = &timer;
  head.previous = &timer;
}

std::uint64_t TimerWheel::start_of(Slot slot) const noexcept {
  const unsigned shift = slot.level * kDigitBits;
  const std::uint64_t above = shift + kDigitBits < 64 ? ~std::uint64_t{0} << (shift + kDigitBits) : 0;
  return (base_ & above) | std::uint64_t{slot.index} << shift;
}

void TimerWheel::place(Timer& timer) noexcept {
  JANUS_ASSERT(timer.at >= base_);
  const std::uint64_t difference = timer.at ^ base_;
  const unsigned level = difference != 0 ? (63u - static_cast<unsigned>(__builtin_clzll(difference))) / kDigitBits : 0;
  const Slot slot = {level, static_cast<unsigned>(timer.at >> (level * kDigitBits)) % kSlots};
  const std::uint64_t bit = std::uint64_t{1} << slot.index;
  if ((occupied_[level] & bit) == 0) {
    occupied_[level] |= bit;
    make_empty(head(slot));
  }
  append(head(slot), timer);
}

void TimerWheel::insert(Timer& timer, std::uint64_t at, std::uint64_t now) noexcept {
  JANUS_ASSERT(!timer.is_pending());
  if (Slot first; !is_unsettled() && !find_first(first)) base_ = now;
  timer.at = at;
  if (timer.at < now) timer.at = now;
  if (timer.at < base_) timer.at = base_;  // somebody who read the clock later has already taken what was due
  is_unsettled() && timer.at <= moving_end_ ? append(moving_, timer) : place(timer);
}

// Forgets slots that cancels have emptied.
bool TimerWheel::find_first(Slot& slot) noexcept {
  for (unsigned level = 0; level < kLevels; ++level) {
    while (occupied_[level] != 0) {
      slot = {level, static_cast<unsigned>(__builtin_ctzll(occupied_[level]))};
      if (!is_empty(head(slot))) return true;
      occupied_[level] &= occupied_[level] - 1;
    }
  }
  return false;
}

// The first of the earliest timers; nullptr: the list is not short.
Timer* TimerWheel::earliest_of_short(Timer& head) noexcept {
  Timer* earliest = head.next;
  unsigned seen = 0;
  for (Timer* timer = head.next; timer != &head; timer = timer->next) {
    if (++seen > kShort) return nullptr;
    if (timer->at < earliest->at) earliest = timer;
  }
  return earliest;
}

void TimerWheel::begin_moving(Slot slot) noexcept {
  Timer& list = head(slot);
  base_ = start_of(slot);
  moving_end_ = base_ + ((std::uint64_t{1} << (slot.level * kDigitBits)) - 1);
  moving_.next = list.next;
  moving_.previous = list.previous;
  moving_.next->previous = moving_.previous->next = &moving_;
  occupied_[slot.level] &= ~(std::uint64_t{1} << slot.index);
}

// False: `moves` were not enough.
bool TimerWheel::settle(unsigned& moves) noexcept {
  for (; is_unsettled(); --moves) {
    if (moves == 0) return false;
    Timer* const timer = moving_.next;
    cancel(*timer);
    place(*timer);
  }
  return true;
}

std::uint64_t TimerWheel::bound() noexcept {
  if (is_unsettled()) return base_;
  Slot slot;
  if (!find_first(slot)) return kNever;
  const Timer* const earliest = slot.level == 0 ? head(slot).next : earliest_of_short(head(slot));
  return earliest != nullptr ? earliest->at : start_of(slot);
}

Timer* TimerWheel::take_due(std::uint64_t now) noexcept {
  for (unsigned moves = kMovesAtOnce; settle(moves);) {
    Slot slot;
    if (!find_first(slot) || start_of(slot) > now) return nullptr;
    Timer* const earliest = slot.level == 0 ? head(slot).next : earliest_of_short(head(slot));
    if (earliest == nullptr) {
      begin_moving(slot);
    } else if (earliest->at > now) {
      return nullptr;
    } else {
      cancel(*earliest);
      return earliest;
    }
  }
  return nullptr;
}

}  // namespace janus
