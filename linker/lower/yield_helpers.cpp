// SPDX-License-Identifier: Apache-2.0
// yield_helpers.cpp — the helpers of yield points: checks, loops, sleep.
#include "helpers.h"

#include "helper_text.h"

namespace janus::lower {

// The same check as in janus/llvm.h.
std::string Helpers::check() {
  return once("check", [this](const std::string& symbol) {
    std::string body;
    line(body,
         "%spent = call i8 asm sideeffect \"subq $1, %gs:8\", \"={@ccl},er,~{dirflag},~{fpsr},~{flags}\"(i64 %cost)");
    line(body, "%is_spent = icmp ne i8 %spent, 0");
    line(body, "br i1 %is_spent, label %slow, label %go_on");
    label(body, "slow");
    line(body, "%status = call i32 ", runtime("janus_yield_slow", "i32", ""), "() cold");
    line(body, "br label %go_on");
    label(body, "go_on");
    line(body, "%result = phi i32 [ 0, %entry ], [ %status, %slow ]");
    line(body, "ret i32 %result");
    return text_of("define internal i32 ", symbol, "(i64 %cost) alwaysinline nounwind {\nentry:\n", body, "}\n");
  });
}

// The check with a cost that the program computes. A negative cost charges nothing: a task cannot increase its own ops.
std::string Helpers::decrement() {
  return once("decrement", [this](const std::string& symbol) {
    std::string body;
    line(body, "%is_credit = icmp slt i64 %cost, 0");
    line(body, "%charge = select i1 %is_credit, i64 0, i64 %cost");
    line(body, "%status = call i32 ", check(), "(i64 %charge)");
    line(body, "ret i32 %status");
    return text_of("define internal i32 ", symbol, "(i64 %cost) alwaysinline nounwind {\n", body, "}\n");
  });
}

// As JANUS_LOOP_CHECK of janus/rt/yield.h: iterations, 0 or 1 at a time, are counted in a variable, charged together.
std::string Helpers::loop_check() {
  return once("loop_check", [this](const std::string& symbol) {
    const std::string interval = std::to_string(settings_.yield_interval);
    std::string body;
    line(body, "%before = load i32, ", pointer_to("i32"), " %counter");
    line(body, "%count = add i32 %before, %iterations");
    line(body, "store i32 %count, ", pointer_to("i32"), " %counter");
    line(body, "%is_due = icmp uge i32 %count, ", interval);
    line(body, "br i1 %is_due, label %due, label %go_on");
    label(body, "due");
    line(body, "store i32 0, ", pointer_to("i32"), " %counter");
    line(body, "%status = call i32 ", check(), "(i64 ", interval, ")");
    line(body, "br label %go_on");
    label(body, "go_on");
    line(body, "%result = phi i32 [ 0, %entry ], [ %status, %due ]");
    line(body, "ret i32 %result");
    return text_of("define internal i32 ", symbol, "(", pointer_to("i32"),
                   " %counter, i32 %iterations) alwaysinline nounwind {\nentry:\n", body, "}\n");
  });
}

std::string Helpers::switch_ends(const std::string& type, const std::string& cases) {
  return once("switch_ends " + type + cases, [&type, &cases](const std::string& symbol) {
    std::string body;
    line(body, "switch ", type, " %value", cases);
    label(body, "ends");
    line(body, "ret i1 true");
    label(body, "goes_on");
    line(body, "ret i1 false");
    return text_of("define internal i1 ", symbol, "(", type, " %value) alwaysinline nounwind {\n", body, "}\n");
  });
}

std::string Helpers::loop_end() {
  return once("loop_end", [this](const std::string& symbol) {
    std::string body;
    line(body, "%count = load i32, ", pointer_to("i32"), " %counter");
    line(body, "store i32 0, ", pointer_to("i32"), " %counter");
    line(body, "%cost = zext i32 %count to i64");
    line(body, "%status = call i32 ", check(), "(i64 %cost)");
    line(body, "ret i32 %status");
    return text_of("define internal i32 ", symbol, "(", pointer_to("i32"),
                   " %counter) alwaysinline nounwind {\nentry:\n", body, "}\n");
  });
}

std::string Helpers::yield() {
  return runtime("janus_yield", "i32", "");
}

std::string Helpers::sleep() {
  return once("sleep", [this](const std::string& symbol) {
    std::string body;
    line(body, "%ns = mul i64 %milliseconds, 1000000");
    line(body, "%status = call i32 ", runtime("janus_sleep_ns", "i32", "i64"), "(i64 %ns)");
    line(body, "ret i32 %status");
    return text_of("define internal i32 ", symbol, "(i64 %milliseconds) {\n", body, "}\n");
  });
}

}  // namespace janus::lower
