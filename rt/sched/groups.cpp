// SPDX-License-Identifier: Apache-2.0
// rt/sched/groups.cpp — see groups.h.
#include "rt/sched/groups.h"

#include <bit>
#include <initializer_list>

#include "rt/base/assert.h"
#include "rt/platform.h"

namespace janus {

// --- All of them ---

GroupTable::Place GroupTable::place_of(std::uint32_t group) noexcept {
  const std::uint64_t shifted = std::uint64_t{group} + (1u << kFirstBits);
  const unsigned top = static_cast<unsigned>(std::bit_width(shifted)) - 1;
  return {top - kFirstBits, std::uint32_t{1} << top, static_cast<std::uint32_t>(shifted - (std::uint64_t{1} << top))};
}

std::size_t GroupTable::segment_bytes(unsigned number) const noexcept {
  const std::size_t each = workers_ * sizeof(Group) + sizeof(std::atomic<std::uint64_t>);
  return ((each << (kFirstBits + number)) + 4095) & ~std::size_t{4095};
}

Group& GroupTable::of(unsigned worker, std::uint32_t group) noexcept {
  const Place place = place_of(group);
  Group* const segment = segments_[place.segment].load(std::memory_order_acquire);  // pairs with add()
  return segment[std::size_t{worker} * place.capacity + place.offset];
}

std::atomic<std::uint64_t>& GroupTable::hold_of(std::uint32_t group) const noexcept {
  const Place place = place_of(group);
  Group* const segment = segments_[place.segment].load(std::memory_order_acquire);  // pairs with add()
  auto* const limits = reinterpret_cast<std::atomic<std::uint64_t>*>(segment + std::size_t{workers_} * place.capacity);
  return limits[place.offset];
}

std::uint64_t GroupTable::hold_limit(std::uint32_t group) const noexcept {
  const std::uint32_t cage = cage_of(group);
  return cage != 0 ? hold_of(cage).load(std::memory_order_relaxed) : platform::kForever;
}

void GroupTable::limit_hold(std::uint32_t group, std::uint64_t hold_ns) noexcept {
  hold_of(group).store(hold_ns, std::memory_order_relaxed);
  if (hold_ns != platform::kForever) are_any_limited_.store(true, std::memory_order_relaxed);
}

bool GroupTable::add(std::uint32_t group, std::uint32_t parent) noexcept {
  JANUS_ASSERT(group != 0);
  if (has_priority(group)) return false;  // so many cages do not fit into the number
  std::atomic<Group*>& slot = segments_[place_of(group).segment];
  if (slot.load(std::memory_order_acquire) == nullptr) {
    LockGuard guard(growing_);
    if (slot.load(std::memory_order_relaxed) == nullptr) {
      auto* const made = reinterpret_cast<Group*>(platform::map(segment_bytes(place_of(group).segment)));
      if (made == nullptr) return false;
      slot.store(made, std::memory_order_release);
    }
  }
  unsigned depth = 0;
  for (const GroupNode* above = parent != 0 ? &of(0, parent).circle : nullptr; above != nullptr;
       above = above->parent.load(std::memory_order_relaxed))
    ++depth;
  for (unsigned worker = 0; worker < workers_; ++worker) {
    Group& mine = of(worker, group);
    JANUS_ASSERT(mine.circle.is_empty() && mine.own_runnables.is_empty());
    GroupNode* const above = parent != 0 ? &of(worker, parent).circle : nullptr;
    GroupNode* const beside = depth < kMaxDepth ? above : above->parent.load(std::memory_order_relaxed);
    mine.circle.parent.store(beside, std::memory_order_relaxed);
    mine.own_runnables.parent.store(&mine.circle, std::memory_order_relaxed);
    for (GroupNode* node : {&mine.circle, &mine.own_runnables}) node->spent.store(0, std::memory_order_relaxed);
    std::atomic_ref(mine.own_runnables.long_turn).store(0, std::memory_order_relaxed);
  }
  if (has_priorities()) forget_priorities(group);
  return true;
}

void GroupTable::destroy() noexcept {
  for (unsigned number = 0; number < kSegments; ++number) {
    Group* const segment = segments_[number].exchange(nullptr, std::memory_order_relaxed);
    if (segment != nullptr) platform::unmap(reinterpret_cast<std::byte*>(segment), segment_bytes(number));
  }
  if (has_priorities()) destroy_priorities();
}

// --- Of one worker ---

GroupNode& Groups::circle_of(const GroupNode& member) noexcept {
  GroupNode* const parent = member.parent.load(std::memory_order_relaxed);
  return parent != nullptr ? *parent : top_;
}

[[gnu::noinline]] GroupNode& Groups::own_runnables_of(std::uint32_t group) noexcept {
  return has_priority(group) ? *table_->with_priority(worker_, group) : table_->of(worker_, group).own_runnables;
}

// A node that was empty enters the circle above it; if that was empty, it enters the next one, and so on up.
void Groups::push(Runnable* runnable) noexcept {
  JANUS_ASSERT(runnable->group != 0);
  LockGuard guard(lock_);
  GroupNode* node = &own_runnables_of(runnable->group);
  bool is_new = node->is_empty();
  std::uint64_t counts = node->counts_in(circle_of(*node));
  node->push_runnable(runnable);
  while (is_new) {
    GroupNode& circle = circle_of(*node);
    is_new = &circle != &top_ && circle.is_empty();
    const std::uint64_t circle_counts = is_new ? circle.counts_in(circle_of(circle)) : 0;
    node->spent.store(counts, std::memory_order_relaxed);
    circle.add_member(*node, ++arrivals_);
    members_ += &circle == &top_;
    node = &circle;
    counts = circle_counts;
  }
  size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Charges each node for `amount`, from `lowest`, which is that of `group`, up. Nodes that are members change their places in
// their circles.
void Groups::spend_on_path(GroupNode& lowest, std::uint32_t group, std::uint64_t amount) noexcept {
  unsigned cost = cost_of(group);
  for (GroupNode* node = &lowest;;) {
    GroupNode& circle = circle_of(*node);
    const bool is_member = !node->is_empty();
    if (is_member) circle.remove_member(*node);
    node->spend(amount << cost);
    cost = kNormalCost;
    if (is_member) circle.add_member(*node, ++arrivals_);
    if (&circle == &top_) return;
    node = &circle;
  }
}

// Removes and returns the next runnable of `member`, which is in the highest circle. The turn counts as 1.
Runnable* Groups::take_from(GroupNode& member) noexcept {
  GroupNode* lowest = &member;
  while (lowest->first_member != nullptr) lowest = lowest->first_member;
  Runnable* const runnable = pop_runnable_of(*lowest);
  spend_on_path(*lowest, runnable->group, 1);
  return runnable;
}

// Nodes that become empty leave their circles. Precondition: `lowest` has a runnable.
Runnable* Groups::pop_runnable_of(GroupNode& lowest) noexcept {
  Runnable* const runnable = lowest.pop_runnable();
  for (GroupNode* node = &lowest; node->is_empty();) {
    GroupNode& circle = circle_of(*node);
    circle.remove_member(*node);
    members_ -= &circle == &top_;
    if (&circle == &top_) break;
    node = &circle;
  }
  size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  return runnable;
}

Runnable* Groups::take_own(std::uint32_t group) noexcept {
  LockGuard guard(lock_);
  GroupNode& own = own_runnables_of(group);
  return own.first_runnable != nullptr ? pop_runnable_of(own) : nullptr;
}

void Groups::begin_turn_of_group_0() noexcept {
  top_.clock = spent_by_group_0();
  group_0_spent_ = top_.clock + (1 << kNormalCost);
}

Runnable* Groups::take_turn(YieldQueue& yielded) noexcept {
  LockGuard guard(lock_);
  GroupNode* const first = top_.first_member;
  if (first == nullptr || spent_by_group_0() <= first->spent_so_far()) {
    if (Runnable* const runnable = yielded.take()) {
      begin_turn_of_group_0();
      return runnable;
    }
  }
  if (first == nullptr) return nullptr;
  for (GroupNode *circle = &top_, *next = first; next != nullptr; circle = next, next = next->first_member)
    circle->clock = next->spent_so_far();
  return take_from(*first);
}

bool Groups::is_least(std::uint32_t group, bool group_0_waits, Equals equals) noexcept {
  const auto is_before = [equals](std::uint64_t other, std::uint64_t mine) {
    return equals == Equals::kAreBefore ? other <= mine : other < mine;
  };
  if (group == 0)
    return top_.first_member == nullptr || !is_before(top_.first_member->spent_so_far(), spent_by_group_0());
  for (const GroupNode* node = &own_runnables_of(group);;) {
    const GroupNode& circle = circle_of(*node);
    const std::uint64_t mine = node->counts_in(circle);
    const GroupNode* const first = circle.first_member;
    if (first != nullptr && first != node && is_before(first->spent_so_far(), mine)) return false;
    if (&circle == &top_) return !group_0_waits || !is_before(spent_by_group_0(), mine);
    node = &circle;
  }
}

bool Groups::is_due(std::uint32_t group, bool group_0_waits) noexcept {
  LockGuard guard(lock_);
  return is_least(group, group_0_waits, Equals::kAreBehind);
}

bool Groups::keeps_turn(std::uint32_t group, bool group_0_waits) noexcept {
  LockGuard guard(lock_);
  if (group == 0 ? group_0_waits : !own_runnables_of(group).is_empty()) return false;
  return is_least(group, group_0_waits, Equals::kAreBefore);
}

// A node that is empty has no claim to compensation for the time before. kGoesOn: nor has who comes after this turn.
void Groups::catch_up(GroupNode& lowest, Clock clock) noexcept {
  for (GroupNode* node = &lowest;;) {
    GroupNode& circle = circle_of(*node);
    const std::uint64_t counts = node->counts_in(circle);
    if (clock == Clock::kGoesOn && counts > circle.clock) circle.clock = counts;
    if (node->is_empty()) node->spent.store(counts, std::memory_order_relaxed);
    if (&circle == &top_) return;
    node = &circle;
  }
}

void Groups::begin_turn(std::uint32_t group) noexcept {
  LockGuard guard(lock_);
  if (group == 0) return begin_turn_of_group_0();
  GroupNode& lowest = own_runnables_of(group);
  catch_up(lowest, Clock::kGoesOn);
  spend_on_path(lowest, group, 1);
}

void Groups::spend_outside_turn(std::uint32_t group, std::uint64_t amount) noexcept {
  JANUS_ASSERT(group != 0);
  LockGuard guard(lock_);
  GroupNode& lowest = own_runnables_of(group);
  catch_up(lowest, Clock::kStays);
  spend_on_path(lowest, group, amount);
}

void Groups::spend(std::uint32_t group, std::uint64_t amount) noexcept {
  LockGuard guard(lock_);
  if (group == 0)
    group_0_spent_ += amount << kNormalCost;
  else
    spend_on_path(own_runnables_of(group), group, amount);
}

// Takes nothing of group 0: thieves take that from the YieldQueue.
std::size_t Groups::steal(Runnable** out, std::size_t most) noexcept {
  if (size() == 0 || !lock_.try_lock()) return 0;
  const auto half = (static_cast<std::size_t>(size()) + 1) / 2;
  std::size_t count = 0;
  for (; count < half && count < most; ++count) out[count] = take_from(*top_.first_member);
  lock_.unlock();
  return count;
}

// `theirs` and `mine` are the same group's node of both workers, or the node of its own runnables.
bool Groups::lacks(const Groups& other, const GroupNode* theirs, const GroupNode* mine) noexcept {
  while (mine->is_empty()) {
    if (theirs->has_several()) return true;
    theirs = theirs->parent.load(std::memory_order_relaxed);
    mine = mine->parent.load(std::memory_order_relaxed);
    if (mine == nullptr) return other.members_ >= members_ + 2;
  }
  return false;
}

// The other lock is not waited for, so two workers that look at each other do not wait for ever.
Runnable* Groups::take_lacking(Groups& other, std::uint32_t running) noexcept {
  if (other.size() == 0) return nullptr;
  LockGuard guard(lock_);
  if (!other.lock_.try_lock()) return nullptr;
  Runnable* taken = nullptr;
  if (GroupNode* lowest = other.top_.first_member) {
    while (lowest->first_member != nullptr) lowest = lowest->first_member;
    const std::uint32_t group = lowest->first_runnable->group;
    if (group != running && lacks(other, lowest, &own_runnables_of(group))) taken = other.pop_runnable_of(*lowest);
  }
  other.lock_.unlock();
  return taken;
}

}  // namespace janus
