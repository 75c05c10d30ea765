// SPDX-License-Identifier: Apache-2.0
// rt/sched/group_node.cpp — see group_node.h.
#include "rt/sched/group_node.h"

#include "rt/base/assert.h"

namespace janus {

namespace {

bool goes_before(const GroupNode& one, const GroupNode& other) noexcept {
  const std::uint64_t mine = one.spent_so_far(), its = other.spent_so_far();
  return mine != its ? mine < its : one.arrival < other.arrival;
}

// Merges two heaps into one, below `above`. Each node on the way down has its children exchanged, which keeps the paths
// short.
GroupNode* merge(GroupNode* one, GroupNode* other, GroupNode* above) noexcept {
  GroupNode* root = nullptr;
  GroupNode** place = &root;
  while (one != nullptr && other != nullptr) {
    if (goes_before(*other, *one)) {
      GroupNode* const later = one;
      one = other;
      other = later;
    }
    *place = one;
    one->above = above;
    above = one;
    GroupNode* const rest = one->right;
    one->right = one->left;
    place = &one->left;
    one = rest;
  }
  *place = one != nullptr ? one : other;
  if (*place != nullptr) (*place)->above = above;
  return root;
}

}  // namespace

void GroupNode::add_member(GroupNode& member, std::uint64_t arrived) noexcept {
  JANUS_ASSERT(first_runnable == nullptr);
  member.left = member.right = nullptr;
  member.arrival = arrived;
  first_member = merge(first_member, &member, nullptr);
}

void GroupNode::remove_member(GroupNode& member) noexcept {
  GroupNode* const rest = merge(member.left, member.right, member.above);
  if (member.above == nullptr)
    first_member = rest;
  else if (member.above->left == &member)
    member.above->left = rest;
  else
    member.above->right = rest;
}

// The first member is the root of the heap, so it has no child exactly if it is alone.
bool GroupNode::has_several() const noexcept {
  const GroupNode* node = this;
  for (; node->first_member != nullptr; node = node->first_member)
    if (node->first_member->left != nullptr || node->first_member->right != nullptr) return true;
  return node->first_runnable != nullptr && node->first_runnable != node->last_runnable;
}

void GroupNode::push_runnable(Runnable* runnable) noexcept {
  JANUS_ASSERT(first_member == nullptr);
  runnable->next = nullptr;
  (first_runnable == nullptr ? first_runnable : last_runnable->next) = runnable;
  last_runnable = runnable;
}

// In a long queue the next runnable is no longer in the cache. Its record was prefetched a turn ago, so its stack's top
// can be prefetched now, together with the record of the runnable behind it.
Runnable* GroupNode::pop_runnable() noexcept {
  Runnable* const first = first_runnable;
  first_runnable = first->next;
  if (first_runnable == nullptr) return first;
  __builtin_prefetch(first_runnable->next);
  if (const auto* const stack = reinterpret_cast<const char*>(first_runnable->suspension()))
    for (int line = -1; line <= 3; ++line) __builtin_prefetch(stack + 64 * line);
  return first;
}

}  // namespace janus
