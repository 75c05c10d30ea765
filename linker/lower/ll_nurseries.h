// SPDX-License-Identifier: Apache-2.0
// ll_nurseries.h — the nurseries of a function: which are open where, and the opcodes that begin, await, cancel and end them.
#pragma once

#include <string>
#include <vector>

#include "ll_rewrite.h"
#include "nursery_flow.h"

namespace janus::lower {

class Nurseries {
 public:
  explicit Nurseries(FunctionRewrite& rewrite) : rewrite_(rewrite), flow_(rewrite.module.source) {}

  // Finds which nurseries are open at each opcode, and fills in the events of the opcodes; the events stay valid as
  // long as this object. `uses` has the opcodes that take part in the flow, in the order of their instructions. Reports
  // errors and then returns false.
  bool follow(std::vector<OpcodeAt>& uses);
  // Whether the operand is the result of a Nursery_Begin.
  bool is_nursery(const Operand& operand);

  void begin(const OpcodeAt& use);
  void cancel(const OpcodeAt& use);
  // Nursery_End, and an Await of a nursery. write_ends() writes both, when every spawn has been seen: only then is it
  // known whether a nursery has records to free.
  void end(const OpcodeAt& use);
  void write_ends();

  // Reports a join of a task if the task's nursery is known to have ended.
  void check_join(const OpcodeAt& use);

  // The nursery of a task, and the variable for the list of its records, which is empty until there is one.
  struct Parent {
    std::string nursery;
    std::string* list;
  };
  Parent parent_of(const OpcodeAt& use);

  // The function's own nursery, for SPAWN and fork outside of all others. `place` is a debug location.
  bool needs_scope() const { return flow_.needs_scope(); }
  std::string begin_scope(const std::string& place);
  std::string end_scope(const std::string& place);

 private:
  struct Site {
    std::string value;  // the nursery
    bool is_opened = false, is_awaited = false;
    std::string list;     // a variable that holds the first record, if there are any
    std::string outcome;  // a variable for what Await found
  };

  // Reports an operand that is no result of a Nursery_Begin.
  bool check_is_nursery(const Operand& operand);
  bool takes_nursery(const OpcodeUse& use);
  bool check_names(const std::vector<OpcodeAt>& uses);
  void read_block(std::uint32_t b, const std::vector<OpcodeAt>& uses, std::size_t& next);
  const OpcodeAt* use_of(const Instruction& one) const;
  void check_operand(const OpcodeAt& use);
  void read_sites(std::vector<OpcodeAt>& uses);
  FlowEvent event_of(const OpcodeAt& use, FlowEvent::Kind kind);
  const NurseryFlow::Stack& stack(std::uint32_t i) const { return flow_.stacks()[i]; }
  std::string text_of_end(const OpcodeAt& use, const std::string& name);
  const std::string& outcome_of(Site& site);
  const std::string& scope_name();
  std::string free_of(const std::string& list) const;

  FunctionRewrite& rewrite_;
  NurseryFlow flow_;
  std::vector<FlowBlock> blocks_;
  const std::vector<OpcodeAt>* uses_ = nullptr;  // in their order
  std::vector<Site> sites_;
  std::vector<const OpcodeAt*> ends_;
  Site scope_;
};

}  // namespace janus::lower
