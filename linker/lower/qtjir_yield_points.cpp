// SPDX-License-Identifier: Apache-2.0
// qtjir_yield_points.cpp — writes the calls at yield points, and after each a branch that leaves the
// function if the task is cancelled.
#include "qtjir_yield_points.h"

namespace janus::lower::qtjir {

void YieldPoints::check(const Instruction& one, std::string_view cost) {
  charge(one, text_.helpers().check(), cost);
}

void YieldPoints::check_loop(const Instruction& one, std::string_view iterations) {
  if (counter_.empty()) counter_ = text_.local("i32", "counter");
  const std::string status = text_.fresh("status");
  text_.line(status, " = call i32 ", text_.helpers().loop_check(), "(", text_.to("i32"), " ", counter_, ", i32 ",
             iterations, ")");
  leave_if_negative(one, status);
}

void YieldPoints::decrement(const Instruction& one) {
  const std::string cost = text_.value(one.operands[0]);
  charge(one, text_.helpers().decrement(), cost);
}

void YieldPoints::yield(const Instruction& one) {
  const std::string status = text_.fresh("status");
  text_.line(status, " = call i32 ", text_.helpers().yield(), "()");
  leave_if_negative(one, status);
}

void YieldPoints::sleep(const Instruction& one) {
  const std::string time = text_.value(one.operands[0]), status = text_.fresh("status"), wide = text_.fresh("v");
  text_.line(status, " = call i32 ", text_.helpers().sleep(), "(i64 ", time, ")");
  text_.line(wide, " = sext i32 ", status, " to i64");
  text_.store_result(one, "i64", wide);
  leave_if_cancelled(one);
}

void YieldPoints::leave_if(const Instruction& one, const std::string& condition) {
  const std::string next = text_.fresh_label();
  text_.line("br i1 ", condition, ", label %", unwind_label(one.event->stack), ", label %", next);
  text_.begin(next);
}

void YieldPoints::leave_if_cancelled(const Instruction& one) {
  if (!unwinds_) return;
  const std::string status = text_.fresh("status"), told = text_.fresh("told");
  text_.line(status, " = call i32 ", text_.helpers().runtime("janus_cancelled", "i32", ""), "()");
  text_.line(told, " = icmp ne i32 ", status, ", 0");
  leave_if(one, told);
}

std::string YieldPoints::unwind_label(std::uint32_t stack) {
  unwound_.insert(stack);
  return "unwind." + std::to_string(stack);
}

void YieldPoints::write_exit() {
  if (!counter_.empty())
    text_.line(text_.fresh("unused"), " = call i32 ", text_.helpers().loop_end(), "(", text_.to("i32"), " ", counter_,
               ")");
}

void YieldPoints::charge(const Instruction& one, std::string_view helper, std::string_view cost) {
  const std::string status = text_.fresh("status");
  text_.line(status, " = call i32 ", helper, "(i64 ", cost, ")");
  leave_if_negative(one, status);
}

// `status` is the i32 result of a yield point; a negative value means that the task is cancelled.
void YieldPoints::leave_if_negative(const Instruction& one, const std::string& status) {
  if (!unwinds_) return;
  const std::string told = text_.fresh("told");
  text_.line(told, " = icmp slt i32 ", status, ", 0");
  leave_if(one, told);
}

}  // namespace janus::lower::qtjir
