// SPDX-License-Identifier: Apache-2.0
// rt/sched/parties.cpp — see parties.h.
#include "rt/sched/parties.h"

#include <bit>

#include "rt/base/assert.h"
#include "rt/platform.h"

namespace janus {

// --- One circle ---

void PartyNode::push_member(PartyNode& member) noexcept {
  JANUS_ASSERT(first_runnable == nullptr);
  member.next = nullptr;
  (first_member == nullptr ? first_member : last_member->next) = &member;
  last_member = &member;
}

PartyNode* PartyNode::pop_member() noexcept {
  PartyNode* const first = first_member;
  if (first != nullptr) first_member = first->next;
  return first;
}

void PartyNode::push_runnable(Runnable* runnable) noexcept {
  JANUS_ASSERT(first_member == nullptr);
  runnable->next = nullptr;
  (first_runnable == nullptr ? first_runnable : last_runnable->next) = runnable;
  last_runnable = runnable;
}

// Who comes next has long left the cache when many wait: its record was fetched a turn ago, so that the top of its
// stack can be fetched now, and the record of the one behind it.
Runnable* PartyNode::pop_runnable() noexcept {
  Runnable* const first = first_runnable;
  first_runnable = first->next;
  if (first_runnable == nullptr) return first;
  __builtin_prefetch(first_runnable->next);
  if (const auto* const stack = reinterpret_cast<const char*>(first_runnable->suspension()))
    for (int line = -1; line <= 3; ++line) __builtin_prefetch(stack + 64 * line);
  return first;
}

// --- All of them ---

// A segment holds its parties worker by worker.
struct PartyTable::Place {
  unsigned segment;
  std::uint32_t capacity, offset;
};

PartyTable::Place PartyTable::place_of(std::uint32_t party) noexcept {
  const std::uint64_t shifted = std::uint64_t{party} + (1u << kFirstBits);
  const unsigned top = static_cast<unsigned>(std::bit_width(shifted)) - 1;
  return {top - kFirstBits, std::uint32_t{1} << top, static_cast<std::uint32_t>(shifted - (std::uint64_t{1} << top))};
}

std::size_t PartyTable::segment_bytes(unsigned number) const noexcept {
  return ((std::size_t{workers_} << (kFirstBits + number)) * sizeof(Party) + 4095) & ~std::size_t{4095};
}

Party& PartyTable::of(unsigned worker, std::uint32_t party) noexcept {
  const Place place = place_of(party);
  Party* const segment = segments_[place.segment].load(std::memory_order_acquire);  // pairs with add()
  return segment[std::size_t{worker} * place.capacity + place.offset];
}

bool PartyTable::add(std::uint32_t party, std::uint32_t parent) noexcept {
  JANUS_ASSERT(party != 0);
  Atomic<Party*>& slot = segments_[place_of(party).segment];
  if (slot.load(std::memory_order_acquire) == nullptr) {
    LockGuard guard(growing_);
    if (slot.load(std::memory_order_relaxed) == nullptr) {
      auto* const made = reinterpret_cast<Party*>(platform::map(segment_bytes(place_of(party).segment)));
      if (made == nullptr) return false;
      slot.store(made, std::memory_order_release);
    }
  }
  unsigned depth = 0;
  for (PartyNode* above = parent != 0 ? &of(0, parent).circle : nullptr; above != nullptr; above = above->parent)
    ++depth;
  for (unsigned worker = 0; worker < workers_; ++worker) {
    Party& mine = of(worker, party);
    JANUS_ASSERT(mine.circle.is_empty() && mine.own_runnables.is_empty());
    PartyNode* const above = parent != 0 ? &of(worker, parent).circle : nullptr;
    mine.circle.parent = depth < kMaxDepth ? above : above->parent;
    mine.own_runnables.parent = &mine.circle;
  }
  return true;
}

void PartyTable::destroy() noexcept {
  for (unsigned number = 0; number < kSegments; ++number) {
    Party* const segment = segments_[number].exchange(nullptr, std::memory_order_relaxed);
    if (segment != nullptr) platform::unmap(reinterpret_cast<std::byte*>(segment), segment_bytes(number));
  }
}

// --- Of one worker ---

// A node that had nothing comes into the circle above it, and so on up.
void Parties::push(Runnable* runnable) noexcept {
  JANUS_ASSERT(runnable->party != 0);
  LockGuard guard(lock_);
  PartyNode* node = &table_->of(worker_, runnable->party).own_runnables;
  bool is_new = node->is_empty();
  node->push_runnable(runnable);
  while (is_new) {
    const bool is_highest = node->parent == nullptr;
    PartyNode& above = is_highest ? top_ : *node->parent;
    if (is_highest && top_.is_empty()) top_.push_member(party_0_);
    is_new = !is_highest && above.is_empty();
    above.push_member(*node);
    node = &above;
  }
  size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Of a member that has been taken out of its circle: whose turn it is there. On the way back each member that still has
// something goes to the end of its circle.
Runnable* Parties::take_from(PartyNode& member) noexcept {
  PartyNode* node = &member;
  while (node->first_member != nullptr) node = node->pop_member();
  Runnable* const runnable = node->pop_runnable();
  for (;; node = node->parent) {
    PartyNode& above = node->parent != nullptr ? *node->parent : top_;
    if (!node->is_empty()) above.push_member(*node);
    if (&above == &top_) break;
  }
  size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  return runnable;
}

Runnable* Parties::take_turn(YieldQueue& yielded) noexcept {
  LockGuard guard(lock_);
  PartyNode* member = top_.pop_member();
  if (member == nullptr) return yielded.take();
  if (member != &party_0_) return take_from(*member);
  // Its turn passes on if it has nothing.
  Runnable* runnable = yielded.take();
  member = runnable == nullptr ? top_.pop_member() : nullptr;
  if (member != nullptr) runnable = take_from(*member);
  top_.push_member(party_0_);
  return runnable;
}

bool Parties::has_others(std::uint32_t party) noexcept {
  if (size() == 0) return false;
  LockGuard guard(lock_);
  const PartyNode* highest = &table_->of(worker_, party).circle;
  while (highest->parent != nullptr) highest = highest->parent;
  for (const PartyNode* member = top_.first_member; member != nullptr; member = member->next) {
    if (member != &party_0_ && member != highest) return true;  // the third one at the latest
  }
  return false;
}

std::size_t Parties::steal(Runnable** out, std::size_t most) noexcept {
  if (size() == 0 || !lock_.try_lock()) return 0;
  const auto half = (static_cast<std::size_t>(size()) + 1) / 2;
  std::size_t count = 0;
  for (; count < half && count < most; ++count) {
    // Party 0 stays where it is: its turn is its owner's to give.
    PartyNode* member = top_.pop_member();
    const bool is_party_0 = member == &party_0_;
    if (is_party_0) member = top_.pop_member();
    out[count] = take_from(*member);
    if (!is_party_0) continue;
    party_0_.next = top_.first_member;
    if (top_.first_member == nullptr) top_.last_member = &party_0_;
    top_.first_member = &party_0_;
  }
  lock_.unlock();
  return count;
}

}  // namespace janus
