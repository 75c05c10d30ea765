// SPDX-License-Identifier: Apache-2.0
// qtjir_nurseries.cpp — opcodes of nurseries and tasks, and how a cancel ends the open nurseries.
#include "qtjir_nurseries.h"

namespace janus::lower::qtjir {

void Nurseries::reserve_locals() {
  sites_.resize(function_.flow->sites());
  std::uint32_t site = 0;
  for (const Block& block : function_.blocks)
    for (const Instruction& one : block.instructions) {
      if (one.kind != Kind::kOpcode || one.opcode != Opcode::kNurseryBegin) continue;
      site_of_[&one] = site;
      sites_[site].nursery = text_.local(text_.pointer(), "nursery");
      sites_[site].is_opened = one.nursery.has_budget || one.nursery.on_error != 0 || one.nursery.on_exhaustion != 0;
      ++site;
    }
  if (function_.flow->needs_scope()) scope_.nursery = text_.local(text_.pointer(), "scope");
}

void Nurseries::begin(const Instruction& one) {
  const Site& site = sites_[site_of_.at(&one)];
  Helpers& helpers = text_.helpers();
  const std::string pointer = text_.pointer(), budget = budget_of(one), name = text_.fresh("v");
  text_.line(name, " = call ", pointer, " ",
             site.is_opened ? helpers.nursery_open(one.nursery) + "(" + budget + ")" : helpers.nursery_begin() + "()");
  text_.line("store ", pointer, " ", name, ", ", text_.to(pointer), " ", site.nursery);
  text_.store_result(one, "nursery", name);
}

void Nurseries::end(const Instruction& one) {
  if (!one.event->is_reached) return;
  const NurseryFlow::Stack& open = stack(one.event->stack);
  Site& site = sites_[open.site];
  if (!open.is_awaited) return text_.store_result(one, "i64", end(site));
  const std::string result = text_.fresh("v");
  text_.line(result, " = load i64, ", text_.to("i64"), " ", outcome_of(site));
  text_.store_result(one, "i64", result);
}

void Nurseries::await(const Instruction& one) {
  if (!one.event->is_reached) return;
  Site& site = sites_[stack(one.event->stack).site];
  const std::string result = end(site);
  text_.line("store i64 ", result, ", ", text_.to("i64"), " ", outcome_of(site));
  text_.store_result(one, "i64", result);
}

void Nurseries::cancel(const Instruction& one) {
  if (one.event->is_reached) cancel(sites_[stack(function_.flow->target(*one.event)).site]);
}

void Nurseries::create_task(const Instruction& one) {
  if (!one.event->is_reached) return;
  const FunctionHead& target = text_.module().callee(one);
  const Module& module = text_.module();
  TaskShape shape{module.signature(target),
                  target.is_external ? symbol(module.name_of(target)) : module.body_symbol(target), Handle::kNone,
                  !one.budget.empty(), !target.is_external};
  if (one.opcode == Opcode::kAsyncCall)
    shape.handle = Handle::kChannel;
  else if (one.result != kNoIndex)
    shape.handle = handle_for(shape.signature.result);
  Site& site = one.event->stack == NurseryFlow::kEmpty ? scope_ : sites_[stack(one.event->stack).site];
  const std::string pointer = text_.pointer();
  std::string list = pointer + " " + load(site) + ", " + text_.helpers().task(shape);
  if (shape.handle == Handle::kRecord || shape.handle == Handle::kChannel)
    list += ", " + text_.to(pointer) + " " + list_of(site);
  if (const std::string given = text_.typed_values(one.operands); !given.empty()) list += ", " + given;
  if (const std::string budget = budget_of(one); !budget.empty()) list += ", " + budget;
  const std::string handle = text_.fresh("v");
  text_.line(handle, " = call i64 ", text_.helpers().spawn(shape), "(", list, ")");
  text_.store_result(one, "task void", handle);
}

void Nurseries::join_task(const Instruction& one) {
  const std::string handle = text_.value(one.operands[0]), type = text_.module().llvm(one.type),
                    result = text_.fresh("v");
  const Handle kind = one.operands[0].type.substr(0, 6) == "async " ? Handle::kChannel : handle_for(type);
  text_.line(result, " = call ", joined_type(type), " ", text_.helpers().join(kind, type), "(i64 ", handle, ")");
  text_.store_result(one, one.type == "void" ? "i64" : one.type, result);
  points_.leave_if_cancelled(one);
}

void Nurseries::write_unwinding() {
  // Every stack has a higher number than the stack around it.
  for (std::uint32_t i = static_cast<std::uint32_t>(function_.flow->stacks().size()); i-- > 1;) {
    if (!points_.is_unwound(i)) continue;
    text_.begin(points_.unwind_label(i));
    const NurseryFlow::Stack& open = stack(i);
    if (!open.is_awaited) {
      cancel(sites_[open.site]);
      end(sites_[open.site]);
    }
    text_.line("br label %", points_.unwind_label(open.outer));
  }
  if (!points_.is_unwound(NurseryFlow::kEmpty)) return;
  text_.begin(points_.unwind_label(NurseryFlow::kEmpty));
  text_.line("store i1 true, ", text_.to("i1"), " %was_cancelled");
  if (!scope_.nursery.empty()) cancel(scope_);
  text_.line("br label %exit");
}

void Nurseries::write_exit() {
  if (!scope_.nursery.empty()) end(scope_);
}

std::string Nurseries::scope_begin() const {
  if (scope_.nursery.empty()) return "";
  const std::string pointer = text_.pointer();
  return "  %scope = call " + pointer + " " + text_.helpers().nursery_begin() + "()\n  store " + pointer + " %scope, " +
         text_.to(pointer) + " " + scope_.nursery + "\n";
}

std::string Nurseries::load(const Site& site) {
  std::string name = text_.fresh("v");
  text_.line(name, " = load ", text_.pointer(), ", ", text_.to(text_.pointer()), " ", site.nursery);
  return name;
}

void Nurseries::cancel(const Site& site) {
  const std::string nursery = load(site);
  text_.line(text_.fresh("unused"), " = call i32 ", text_.helpers().nursery_cancel(), "(", text_.pointer(), " ",
             nursery, ")");
}

// Ends a nursery and frees the records of its tasks. Returns the nursery's result.
std::string Nurseries::end(Site& site) {
  const std::string nursery = load(site), pointer = text_.pointer();
  std::string result = text_.fresh("v");
  text_.line(result, " = call i64 ", text_.helpers().nursery_end(site.is_opened), "(", pointer, " ", nursery, ")");
  text_.line("call void ", text_.helpers().free_records(), "(", text_.to(pointer), " ", list_of(site), ")");
  return result;
}

const std::string& Nurseries::list_of(Site& site) {
  if (site.list.empty()) site.list = text_.local(text_.pointer(), "records");
  return site.list;
}

const std::string& Nurseries::outcome_of(Site& site) {
  if (site.outcome.empty()) site.outcome = text_.local("i64", "outcome");
  return site.outcome;
}

std::string Nurseries::budget_of(const Instruction& one) {
  std::string list;
  for (std::size_t i = 0; i < one.budget.size(); ++i) {
    const auto& part = one.budget[i];
    const std::string amount = one.has_all[i] ? "-1" : part ? text_.value(*part) : "0";
    list += (i == 0 ? "" : ", ") + std::string(kBudgetParts[i].second) + " " + amount;
  }
  return list;
}

}  // namespace janus::lower::qtjir
