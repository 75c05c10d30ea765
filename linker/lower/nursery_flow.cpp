// SPDX-License-Identifier: Apache-2.0
#include "nursery_flow.h"

#include <algorithm>

namespace janus::lower {

constexpr std::uint32_t kNotReached = UINT32_MAX;

std::optional<FlowEvent::Kind> flow_kind_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kNurseryBegin:
      return FlowEvent::Kind::kBegin;
    case Opcode::kNurseryEnd:
      return FlowEvent::Kind::kEnd;
    case Opcode::kNurseryCancel:
      return FlowEvent::Kind::kCancel;
    case Opcode::kTaskCreate:
    case Opcode::kSpawn:
    case Opcode::kAsyncCall:
      return FlowEvent::Kind::kSpawn;
    case Opcode::kFork:
      return FlowEvent::Kind::kFork;
    case Opcode::kTaskJoin:
    case Opcode::kAwait:
      return FlowEvent::Kind::kPoint;
    default:
      return std::nullopt;
  }
}

bool NurseryFlow::run(std::vector<FlowBlock>& blocks) {
  for (FlowBlock& block : blocks)
    for (FlowEvent& event : block.events)
      if (event.kind == FlowEvent::Kind::kBegin) {
        site_by_offset_[event.offset] = sites();
        if (!event.nursery.empty()) site_by_name_.emplace(event.nursery, sites());
        site_events_.push_back({event.nursery, event.offset, 0});
      }
  std::vector<std::uint32_t> at_begin(blocks.size(), kNotReached);
  std::vector<std::uint32_t> to_visit;
  if (!blocks.empty()) {
    at_begin[0] = kEmpty;
    to_visit.push_back(0);
  }
  while (!to_visit.empty()) {
    FlowBlock& block = blocks[to_visit.back()];
    std::uint32_t stack = at_begin[to_visit.back()];
    to_visit.pop_back();
    for (FlowEvent& event : block.events) {
      stack = apply(event, stack);
      if (is_lost_) return false;
    }
    for (const std::uint32_t next : block.successors) {
      if (next == UINT32_MAX) {
        complain(block.branch, "a branch to a label that this function does not have");
      } else if (at_begin[next] == kNotReached) {
        at_begin[next] = stack;
        to_visit.push_back(next);
      } else if (at_begin[next] != stack) {
        const bool first_is_deeper = at_begin[next] != kEmpty;
        complain(blocks[next].offset, "the nursery " + described(first_is_deeper ? at_begin[next] : stack) +
                                          " is open on one path to this block and not on another");
      }
    }
  }
  return is_right_;
}

std::uint32_t NurseryFlow::target(const FlowEvent& event) const {
  if (event.kind != FlowEvent::Kind::kCancel || event.nursery.empty()) return event.stack;
  const auto site = site_by_name_.find(event.nursery);
  return site == site_by_name_.end() ? kEmpty : open_entry(site->second, event.stack);
}

// The stack of the outermost `depth` nurseries of the stack.
std::uint32_t NurseryFlow::ancestor(std::uint32_t stack, std::uint32_t depth) const {
  while (stacks_[stack].depth > depth)
    stack = stacks_[stacks_[stack].jump].depth >= depth ? stacks_[stack].jump : stacks_[stack].outer;
  return stack;
}

// The entry of the site's nursery in the stack; kEmpty if that nursery is not open there.
std::uint32_t NurseryFlow::open_entry(std::uint32_t site, std::uint32_t stack) const {
  const std::uint32_t depth = site_events_[site].depth;
  if (depth == 0 || depth > stacks_[stack].depth) return kEmpty;
  const std::uint32_t entry = ancestor(stack, depth);
  return stacks_[entry].site == site ? entry : kEmpty;
}

bool NurseryFlow::has_ended(const FlowEvent& spawn, const FlowEvent& at) const {
  if (!spawn.is_reached || !at.is_reached || spawn.stack == kEmpty) return false;
  const std::uint32_t open = open_entry(stacks_[spawn.stack].site, at.stack);
  return open == kEmpty || stacks_[open].is_awaited;
}

std::uint32_t NurseryFlow::push(std::uint32_t outer, std::uint32_t site, bool is_awaited) {
  const auto [entry, is_new] =
      known_.try_emplace({outer, site, is_awaited}, static_cast<std::uint32_t>(stacks_.size()));
  if (is_new) {
    // If the outer stack and the stack that it jumps to jump equally far, this jump spans both; else it is to `outer`.
    const std::uint32_t depth = stacks_[outer].depth + 1, jump = stacks_[outer].jump;
    const bool is_double =
        stacks_[outer].depth - stacks_[jump].depth == stacks_[jump].depth - stacks_[stacks_[jump].jump].depth;
    stacks_.push_back({outer, site, is_awaited, depth, is_double ? stacks_[jump].jump : outer});
    site_events_[site].depth = depth;
  }
  return entry->second;
}

std::uint32_t NurseryFlow::apply(FlowEvent& event, std::uint32_t stack) {
  event.stack = stack;
  event.is_reached = true;
  const bool is_active = stack != kEmpty && !stacks_[stack].is_awaited;
  switch (event.kind) {
    case FlowEvent::Kind::kBegin:
      return push(stack, site_by_offset_[event.offset], false);
    case FlowEvent::Kind::kEnd:
      return end(event, stack);
    case FlowEvent::Kind::kAwait:
      return await(event, stack);
    case FlowEvent::Kind::kCancel:
      if (target(event) == kEmpty) complain(event.offset, "no nursery of this name is open here");
      return stack;
    case FlowEvent::Kind::kSpawn:
      if (stack == kEmpty)
        complain(event.offset, "spawn outside a nursery (NurseryNotActive)");
      else if (!is_active)
        complain(event.offset, "spawn in the nursery " + described(stack) + " after its Await (NurseryNotActive)");
      return stack;
    case FlowEvent::Kind::kFork:
      if (stack == kEmpty)
        needs_scope_ = true;
      else if (!is_active)
        complain(event.offset, "spawn in the nursery " + described(stack) + " after its Await (NurseryNotActive)");
      return stack;
    case FlowEvent::Kind::kReturn:
      if (stack != kEmpty) complain(event.offset, "the nursery " + described(stack) + " is not closed on this path");
      return stack;
    case FlowEvent::Kind::kPoint:
      return stack;
  }
  return stack;
}

std::uint32_t NurseryFlow::end(const FlowEvent& event, std::uint32_t stack) {
  if (stack == kEmpty) {
    complain(event.offset, "Nursery_End outside of every nursery");
    return stack;
  }
  if (!event.nursery.empty() && site_events_[stacks_[stack].site].name != event.nursery) {
    is_lost_ = true;
    complain(event.offset, "Nursery_End of %" + event.nursery + ", but the innermost nursery is " + described(stack));
  }
  return stacks_[stack].outer;
}

std::uint32_t NurseryFlow::await(const FlowEvent& event, std::uint32_t stack) {
  if (stack == kEmpty || (!event.nursery.empty() && site_events_[stacks_[stack].site].name != event.nursery)) {
    complain(event.offset, "Await of a nursery that is not the innermost one here");
    return stack;
  }
  if (stacks_[stack].is_awaited) complain(event.offset, "a second Await of the nursery " + described(stack));
  return push(stacks_[stack].outer, stacks_[stack].site, true);
}

void NurseryFlow::complain(std::size_t offset, const std::string& message) {
  is_right_ = false;
  source_.error(offset, message);
}

std::string NurseryFlow::described(std::uint32_t stack) const {
  const Site& site = site_events_[stacks_[stack].site];
  return (site.name.empty() ? "" : "%" + site.name + " ") + "of line " + std::to_string(source_.line_of(site.offset));
}

}  // namespace janus::lower
