// SPDX-License-Identifier: Apache-2.0
// task_call_claims.cpp — checks janus_task_call, janus_task_abandon and janus_run_on_stack against struct TaskFrame.
#include <cstddef>

#include <arch/context.h>
#include <arch/task_call.h>
#include "tests/offsets/report.h"

namespace witness {
namespace {

using janus::arch::TaskFrame;

struct Field {
  const char* reg;
  std::size_t offset;
};
constexpr Field kSaved[] = {
    {"rbx", offsetof(TaskFrame, rbx)}, {"rbp", offsetof(TaskFrame, rbp)}, {"r12", offsetof(TaskFrame, r12)},
    {"r13", offsetof(TaskFrame, r13)}, {"r14", offsetof(TaskFrame, r14)}, {"r15", offsetof(TaskFrame, r15)},
};

// The frame ends with the word to which rsp points at the function's entry.
constexpr std::int64_t kFrame = -static_cast<std::int64_t>(offsetof(TaskFrame, return_ip));

Value in_frame(std::size_t offset) {
  return {"sp", kFrame + static_cast<std::int64_t>(offset)};
}

// All that a call may write: its frame, the address of the frame, and eight bytes of scratch space below it, of which
// the default mxcsr takes four if it is loaded.
std::map<Value, Word> written(bool with_default_mxcsr) {
  std::map<Value, Word> stores;
  for (const auto& field : kSaved) stores[in_frame(field.offset)] = {{field.reg}, 8};
  stores[in_frame(offsetof(TaskFrame, mxcsr))] = {{"mxcsr"}, 4};
  stores[in_frame(offsetof(TaskFrame, fcw))] = {{"fcw"}, 2};
  stores[{"rdx", 0}] = {{"sp", kFrame}, 8};
  if (with_default_mxcsr) stores[{"sp", kFrame - 8}] = {{"", janus::arch::kDefaultMxcsr}, 4};
  stores[{"sp", kFrame - 4}] = {{"fcw after the call"}, 2};
  return stores;
}

// The jumps taken and the control words loaded, in order, around "call", as a text.
std::string story(const Path& path) {
  std::string told;
  for (const auto& event : path.events)
    if (event.what[0] != 'j' || event.taken) told += event.what + " " + event.operand.text() + "; ";
  return told;
}

const std::string kDefaultMxcsr = std::to_string(janus::arch::kDefaultMxcsr);
const std::string kDefaultFcw = std::to_string(janus::arch::kDefaultFcw);

// The expected texts: before the call each word is loaded that is not the default; after it mxcsr, and the x87 word if it
// has changed.
std::vector<std::string> stories_that_must_be_told() {
  std::vector<std::string> all;
  for (const auto& mxcsr : {std::string(), "jnz cmp(mxcsr," + kDefaultMxcsr + "); ldmxcsr " + kDefaultMxcsr + "; "})
    for (const auto& fcw : {std::string(), "jnz cmp(fcw," + kDefaultFcw + "); fnclex 0; fldcw " + kDefaultFcw + "; "})
      for (const auto& after : {std::string(), std::string("jnz cmp(fcw after the call,fcw); fnclex 0; fldcw fcw; ")})
        all.push_back(mxcsr + fcw + "call rdi; ldmxcsr mxcsr; " + after);
  return all;
}

void check_call_path(const Path& path, Report& report) {
  const std::string which = " (" + story(path) + ")";
  const auto calls = events(path, "call");
  report.claim("task call: can be followed and calls once" + which, path.trouble.empty() && calls.size() == 1,
               path.trouble);
  if (calls.size() != 1) return;
  const auto& then = calls[0].registers;
  report.equal("task call: passes the argument" + which, then.at("rdi").text(), "rsi");
  report.equal("task call: the task is called at the frame" + which, then.at("rsp").text(),
               (Value{"sp", kFrame}).text());
  report.claim("task call: on a multiple of 16" + which, (8 + kFrame) % 16 == 0);
  report.equal("task call: links the frame pointer chain" + which, then.at("rbp").text(),
               in_frame(offsetof(TaskFrame, rbp)).text());
  report.equal("task call: writes its frame and nothing else" + which, text(path.stores),
               text(written(story(path).starts_with("jnz cmp(mxcsr,"))));
  report.equal("task call: returns the result" + which, path.registers.at("rax").text(), "result");
  report.equal("task call: returns to its caller" + which, path.end + " " + path.target.text(), "ret [sp]");
  report.equal("task call: balances the stack" + which, path.registers.at("rsp").text(), "sp+8");
  for (const auto& field : kSaved)
    report.equal(std::string("task call: preserves ") + field.reg + which, path.registers.at(field.reg).text(),
                 field.reg);
}

void check_abandon_path(const Path& path, Report& report) {
  report.claim("abandon: can be followed", path.trouble.empty(), path.trouble);
  if (!path.trouble.empty()) return;
  for (const auto& field : kSaved)
    report.equal(std::string("abandon: takes back ") + field.reg, path.registers.at(field.reg).text(),
                 "[" + (Value{"rdi", static_cast<std::int64_t>(field.offset)}).text() + "]");
  report.equal("abandon: the call returns the value", path.registers.at("rax").text(), "rsi");
  report.equal("abandon: the call returns to its caller", path.end + " " + path.target.text(),
               "ret [" + (Value{"rdi", offsetof(TaskFrame, return_ip)}).text() + "]");
  report.equal("abandon: leaves the stack as a return does", path.registers.at("rsp").text(),
               (Value{"rdi", sizeof(TaskFrame)}).text());
  report.claim("abandon: clears the direction flag", events(path, "cld").size() == 1);
  for (const auto& [address, word] : path.stores)
    report.claim("abandon: writes only below the frame", address.symbol == "rdi" && address.offset < 0,
                 text(path.stores));
}

// As janus_task_call, but the frame holds the default control words, and none is looked at or loaded.
void check_half_call(const Image& image, Report& report) {
  const Path path = run(image, image.function("janus_half_call").address).front();
  const auto calls = events(path, "call");
  report.claim("half call: calls once", path.trouble.empty() && calls.size() == 1, path.trouble);
  if (calls.size() != 1) return;
  const auto& then = calls[0].registers;
  report.equal("half call: tells its story", story(path), "call rsi; ");
  report.equal("half call: passes the argument", then.at("rdi").text(), "rdi");
  report.equal("half call: the function is called at the frame", then.at("rsp").text(), (Value{"sp", kFrame}).text());
  report.equal("half call: links the frame pointer chain", then.at("rbp").text(),
               in_frame(offsetof(TaskFrame, rbp)).text());
  std::map<Value, Word> stores;
  for (const auto& field : kSaved) stores[in_frame(field.offset)] = {{field.reg}, 8};
  stores[in_frame(offsetof(TaskFrame, mxcsr))] = {{"", janus::arch::kDefaultMxcsr}, 4};
  stores[in_frame(offsetof(TaskFrame, fcw))] = {{"", janus::arch::kDefaultFcw}, 2};
  stores[{"rdx", 0}] = {{"sp", kFrame}, 8};
  report.equal("half call: writes its frame and nothing else", text(path.stores), text(stores));
  report.equal("half call: returns the result", path.registers.at("rax").text(), "result");
  report.equal("half call: returns to its caller", path.end + " " + path.target.text(), "ret [sp]");
  report.equal("half call: balances the stack", path.registers.at("rsp").text(), "sp+8");
  for (const auto& field : kSaved)
    report.equal(std::string("half call: preserves ") + field.reg, path.registers.at(field.reg).text(), field.reg);
}

void check_run_on_stack(const Image& image, Report& report) {
  const Path path = run(image, image.function("janus_run_on_stack").address).front();
  const auto calls = events(path, "call");
  report.claim("run on stack: calls one function", path.trouble.empty() && calls.size() == 1, path.trouble);
  if (calls.size() != 1) return;
  report.equal("run on stack: the function is rsi", calls[0].operand.text(), "rsi");
  report.equal("run on stack: its argument is rdx", calls[0].registers.at("rdi").text(), "rdx");
  report.equal("run on stack: the stack is rdi, aligned", calls[0].registers.at("rsp").text(), "and(rdi,-16)");
  report.equal("run on stack: the frame pointer chain ends", calls[0].registers.at("rbp").text(), "0");
  report.equal("run on stack: does not come back", path.end, "ud2");
}

}  // namespace

void check_task_call(const Image& image, Report& report) {
  auto wanted = stories_that_must_be_told();
  for (const auto& path : run(image, image.function("janus_task_call").address)) {
    check_call_path(path, report);
    report.claim("task call: loads control words only when they differ", std::erase(wanted, story(path)) == 1,
                 story(path));
  }
  for (const auto& missing : wanted) report.claim("task call: also goes " + missing, false);
  for (const auto& path : run(image, image.function("janus_task_abandon").address)) check_abandon_path(path, report);
  check_half_call(image, report);
  check_run_on_stack(image, report);
}

}  // namespace witness
