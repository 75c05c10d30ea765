// SPDX-License-Identifier: Apache-2.0
// nursery_flow.h — which nurseries are open at each point of a function. They form a stack, which has to be the same on
// every path to a point; else the function is refused. docs/decisions/0310
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "opcodes.h"
#include "source.h"

namespace janus::lower {

struct FlowEvent {
  enum class Kind { kBegin, kEnd, kAwait, kCancel, kSpawn, kFork, kReturn, kPoint };
  Kind kind;
  std::size_t offset;       // in the source, for messages
  std::string nursery;      // of kBegin: its name; of kEnd, kAwait and kCancel: the operand, empty for the innermost
  std::uint32_t stack = 0;  // filled in: the stack before the event
  bool is_reached = false;  // filled in
};

// The kind of event of an opcode that changes nurseries or depends on which are open; std::nullopt for other opcodes.
// An Await is kPoint here; the caller finds out whether it awaits a nursery (kAwait).
std::optional<FlowEvent::Kind> flow_kind_of(Opcode opcode);

struct FlowBlock {
  std::size_t offset;  // in the source, for messages: where it begins, and its branch
  std::size_t branch;
  std::vector<FlowEvent> events;
  std::vector<std::uint32_t> successors;  // UINT32_MAX: unknown
};

class NurseryFlow {
 public:
  static constexpr std::uint32_t kEmpty = 0;

  // One open nursery and, by `outer`, those around it. `site` numbers the kBegin events of the function in their order.
  struct Stack {
    std::uint32_t outer;
    std::uint32_t site;
    bool is_awaited;
    std::uint32_t depth = 0;  // how many nurseries are open
    std::uint32_t jump = 0;   // a stack further out, by which ancestor() gets there in logarithmic time
  };

  explicit NurseryFlow(Source& source) : source_(source) {}

  // Fills in the events. Reports what is wrong; false then.
  bool run(std::vector<FlowBlock>& blocks);

  const std::vector<Stack>& stacks() const { return stacks_; }
  // The nursery that a kEnd, kAwait or kCancel event is for, and kSpawn's: the index of its stack entry.
  std::uint32_t target(const FlowEvent& event) const;
  // Whether the nursery of the kSpawn event has ended or is awaited on every path to the other event.
  bool has_ended(const FlowEvent& spawn, const FlowEvent& at) const;
  // The innermost nursery of a stack, for messages.
  std::string described(std::uint32_t stack) const;
  std::uint32_t sites() const { return static_cast<std::uint32_t>(site_events_.size()); }
  // Whether there is a kFork event outside of all nurseries.
  bool needs_scope() const { return needs_scope_; }

 private:
  struct Site {
    std::string name;
    std::size_t offset;
    std::uint32_t depth;  // of its entries in stacks_, which all have the same outer stack
  };

  std::uint32_t ancestor(std::uint32_t stack, std::uint32_t depth) const;
  std::uint32_t open_entry(std::uint32_t site, std::uint32_t stack) const;
  std::uint32_t push(std::uint32_t outer, std::uint32_t site, bool is_awaited);
  std::uint32_t apply(FlowEvent& event, std::uint32_t stack);
  std::uint32_t end(const FlowEvent& event, std::uint32_t stack);
  std::uint32_t await(const FlowEvent& event, std::uint32_t stack);
  void complain(std::size_t offset, const std::string& message);

  Source& source_;
  std::vector<Stack> stacks_{{0, 0, false}};
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, std::uint32_t> known_;
  std::vector<Site> site_events_;
  std::unordered_map<std::string, std::uint32_t> site_by_name_;
  std::map<std::size_t, std::uint32_t> site_by_offset_;
  bool needs_scope_ = false;
  bool is_right_ = true;
  bool is_lost_ = false;  // which nurseries are open is not known behind a wrong Nursery_End: nothing more is reported
};

}  // namespace janus::lower
