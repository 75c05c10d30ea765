// SPDX-License-Identifier: Apache-2.0
// rt/sched/groups.cpp — see groups.h.
#include "rt/sched/groups.h"

#include <bit>
#include <initializer_list>

#include "rt/base/assert.h"
#include "rt/platform.h"

namespace janus {

// --- All of them ---

// Where a party is in the table. A segment holds all its parties for worker 0, then all for worker 1, and so on.
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
  for (const PartyNode* above = parent != 0 ? &of(0, parent).circle : nullptr; above != nullptr;
       above = above->parent.load(std::memory_order_relaxed))
    ++depth;
  for (unsigned worker = 0; worker < workers_; ++worker) {
    Party& mine = of(worker, party);
    JANUS_ASSERT(mine.circle.is_empty() && mine.own_runnables.is_empty());
    PartyNode* const above = parent != 0 ? &of(worker, parent).circle : nullptr;
    PartyNode* const beside = depth < kMaxDepth ? above : above->parent.load(std::memory_order_relaxed);
    mine.circle.parent.store(beside, std::memory_order_relaxed);
    mine.own_runnables.parent.store(&mine.circle, std::memory_order_relaxed);
    for (PartyNode* node : {&mine.circle, &mine.own_runnables}) node->spent.store(0, std::memory_order_relaxed);
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

PartyNode& Parties::circle_of(const PartyNode& member) noexcept {
  PartyNode* const parent = member.parent.load(std::memory_order_relaxed);
  return parent != nullptr ? *parent : top_;
}

// A node that was empty enters the circle above it; if that was empty, it enters the next one, and so on up.
void Parties::push(Runnable* runnable) noexcept {
  JANUS_ASSERT(runnable->party != 0);
  LockGuard guard(lock_);
  PartyNode* node = &own_runnables_of(runnable->party);
  bool is_new = node->is_empty();
  std::uint64_t counts = node->counts_in(circle_of(*node));
  node->push_runnable(runnable);
  while (is_new) {
    PartyNode& circle = circle_of(*node);
    is_new = &circle != &top_ && circle.is_empty();
    const std::uint64_t circle_counts = is_new ? circle.counts_in(circle_of(circle)) : 0;
    node->spent.store(counts, std::memory_order_relaxed);
    circle.add_member(*node, ++arrivals_);
    node = &circle;
    counts = circle_counts;
  }
  size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Adds `amount` to each node from `lowest` up. Nodes that are members change their places in their circles.
void Parties::spend_on_path(PartyNode& lowest, std::uint64_t amount) noexcept {
  for (PartyNode* node = &lowest;;) {
    PartyNode& circle = circle_of(*node);
    const bool is_member = !node->is_empty();
    if (is_member) circle.remove_member(*node);
    node->spend(amount);
    if (is_member) circle.add_member(*node, ++arrivals_);
    if (&circle == &top_) return;
    node = &circle;
  }
}

// Removes and returns the next runnable of `member`, which is in the highest circle. The turn counts as 1.
Runnable* Parties::take_from(PartyNode& member) noexcept {
  PartyNode* node = &member;
  while (node->first_member != nullptr) node = node->first_member;
  Runnable* const runnable = node->pop_runnable();
  PartyNode& lowest = *node;
  for (;;) {
    if (!node->is_empty()) break;
    PartyNode& circle = circle_of(*node);
    circle.remove_member(*node);
    if (&circle == &top_) break;
    node = &circle;
  }
  spend_on_path(lowest, 1);
  size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  return runnable;
}

void Parties::begin_turn_of_party_0() noexcept {
  top_.clock = spent_by_party_0();
  party_0_spent_ = top_.clock + 1;
}

Runnable* Parties::take_turn(YieldQueue& yielded) noexcept {
  LockGuard guard(lock_);
  PartyNode* const first = top_.first_member;
  if (first == nullptr || spent_by_party_0() <= first->spent_so_far()) {
    if (Runnable* const runnable = yielded.take()) {
      begin_turn_of_party_0();
      return runnable;
    }
  }
  if (first == nullptr) return nullptr;
  for (PartyNode *circle = &top_, *next = first; next != nullptr; circle = next, next = next->first_member)
    circle->clock = next->spent_so_far();
  return take_from(*first);
}

bool Parties::is_least(std::uint32_t party, bool party_0_waits, Equals equals) noexcept {
  const auto is_before = [equals](std::uint64_t other, std::uint64_t mine) {
    return equals == Equals::kAreBefore ? other <= mine : other < mine;
  };
  if (party == 0)
    return top_.first_member == nullptr || !is_before(top_.first_member->spent_so_far(), spent_by_party_0());
  for (const PartyNode* node = &own_runnables_of(party);;) {
    const PartyNode& circle = circle_of(*node);
    const std::uint64_t mine = node->counts_in(circle);
    const PartyNode* const first = circle.first_member;
    if (first != nullptr && first != node && is_before(first->spent_so_far(), mine)) return false;
    if (&circle == &top_) return !party_0_waits || !is_before(spent_by_party_0(), mine);
    node = &circle;
  }
}

bool Parties::is_due(std::uint32_t party, bool party_0_waits) noexcept {
  LockGuard guard(lock_);
  return is_least(party, party_0_waits, Equals::kAreBehind);
}

bool Parties::keeps_turn(std::uint32_t party, bool party_0_waits) noexcept {
  LockGuard guard(lock_);
  if (party == 0 ? party_0_waits : !own_runnables_of(party).is_empty()) return false;
  return is_least(party, party_0_waits, Equals::kAreBefore);
}

void Parties::begin_turn(std::uint32_t party) noexcept {
  LockGuard guard(lock_);
  if (party == 0) return begin_turn_of_party_0();
  PartyNode& lowest = own_runnables_of(party);
  for (PartyNode* node = &lowest;;) {
    PartyNode& circle = circle_of(*node);
    const std::uint64_t counts = node->counts_in(circle);
    if (counts > circle.clock) circle.clock = counts;
    if (node->is_empty()) node->spent.store(counts, std::memory_order_relaxed);
    if (&circle == &top_) break;
    node = &circle;
  }
  spend_on_path(lowest, 1);
}

void Parties::spend(std::uint32_t party, std::uint64_t amount) noexcept {
  LockGuard guard(lock_);
  if (party == 0)
    party_0_spent_ += amount;
  else
    spend_on_path(own_runnables_of(party), amount);
}

bool Parties::has_others(std::uint32_t party) noexcept {
  if (size() == 0) return false;
  LockGuard guard(lock_);
  const PartyNode* highest = &table_->of(worker_, party).circle;
  while (&circle_of(*highest) != &top_) highest = &circle_of(*highest);
  const PartyNode* const first = top_.first_member;
  return first != nullptr && (first != highest || first->left != nullptr || first->right != nullptr);
}

// Takes nothing of party 0: thieves take that from the YieldQueue.
std::size_t Parties::steal(Runnable** out, std::size_t most) noexcept {
  if (size() == 0 || !lock_.try_lock()) return 0;
  const auto half = (static_cast<std::size_t>(size()) + 1) / 2;
  std::size_t count = 0;
  for (; count < half && count < most; ++count) out[count] = take_from(*top_.first_member);
  lock_.unlock();
  return count;
}

}  // namespace janus
