// SPDX-License-Identifier: Apache-2.0
// switch_claims.cpp — checks janus_context_switch, janus_fiber_entry and janus_fiber_cleanup against struct Context.
#include <cstddef>

#include <arch/context.h>
#include "tests/offsets/report.h"

namespace witness {
namespace {

using janus::arch::Context;

struct Field {
  const char* reg;
  std::size_t offset;
};
constexpr Field kPreserved[] = {
    {"rbx", offsetof(Context, rbx)}, {"rbp", offsetof(Context, rbp)}, {"r12", offsetof(Context, r12)},
    {"r13", offsetof(Context, r13)}, {"r14", offsetof(Context, r14)}, {"r15", offsetof(Context, r15)},
};

Value at(const char* base, std::size_t offset) {
  return {base, static_cast<std::int64_t>(offset)};
}
Value content(const char* base, std::size_t offset) {
  return {"[" + at(base, offset).text() + "]"};
}

std::map<Value, Word> saved() {
  std::map<Value, Word> stores;
  for (const auto& field : kPreserved) stores[at("rdi", field.offset)] = {{field.reg}, 8};
  stores[at("rdi", offsetof(Context, sp))] = {{"sp"}, 8};
  stores[at("rdi", offsetof(Context, mxcsr))] = {{"mxcsr"}, sizeof(Context::mxcsr)};
  stores[at("rdi", offsetof(Context, fcw))] = {{"fcw"}, sizeof(Context::fcw)};
  return stores;
}

std::string restored(const Path& path) {
  std::string wrong;
  for (const auto& field : kPreserved) {
    const Value& value = path.registers.at(field.reg);
    if (value != content("rsi", field.offset)) wrong += std::string(field.reg) + "=" + value.text() + " ";
  }
  return wrong;
}

const std::string kMxcsrOfTarget = content("rsi", offsetof(Context, mxcsr)).text();
const std::string kFcwOfTarget = content("rsi", offsetof(Context, fcw)).text();
// The jumps taken and the control words loaded, in order, as a text.
std::string story(const Path& path) {
  std::string told;
  for (const auto& event : path.events)
    if (event.what[0] != 'j' || event.taken) told += event.what + " " + event.operand.text() + "; ";
  return told;
}

// The expected texts. mxcsr is loaded where that is quick, elsewhere if its control bits differ; the x87 word is loaded
// if it differs. `quick` is the address of janus_loads_mxcsr_quickly.
std::vector<std::string> stories_that_must_be_told(std::uint64_t quick) {
  const std::string load = "ldmxcsr " + kMxcsrOfTarget + "; ";
  const std::string is_quick = "jnz cmp([" + std::to_string(quick) + "],0); ";
  const std::string differs =
      "jnz test(xor(mxcsr," + kMxcsrOfTarget + ")," + std::to_string(janus::arch::kMxcsrControlBits) + "); ";
  const std::string load_fcw = "jnz cmp(fcw," + kFcwOfTarget + "); fnclex 0; fldcw " + kFcwOfTarget + "; ";
  std::vector<std::string> all;
  for (const std::string& mxcsr : {std::string(), differs + load, is_quick + load})
    for (const std::string& fcw : {std::string(), load_fcw}) all.push_back(mxcsr + fcw);
  return all;
}

void check_switch_path(const Path& path, Report& report) {
  report.claim("switch: can be followed", path.trouble.empty(), path.trouble);
  if (!path.trouble.empty()) return;
  const std::string which = " (" + story(path) + ")";
  report.equal("switch: saves all of Context and writes nothing else" + which, text(path.stores), text(saved()));
  report.equal("switch: restores every callee-saved register" + which, restored(path), "");
  report.equal("switch: pops one word of the other stack" + which, path.registers.at("rsp").text(),
               (Value{content("rsi", offsetof(Context, sp)).text(), 8}).text());
  report.equal("switch: leaves by a jump, never by ret" + which, path.end, "jmp");
  report.equal("switch: goes where the other fiber left off" + which, path.target.text(),
               "[" + content("rsi", offsetof(Context, sp)).text() + "]");
}

// switch_jmp must save what a switch saves whose caller has pushed rdx.
void check_jmp_path(const Path& path, Report& report) {
  report.claim("switch_jmp: can be followed", path.trouble.empty(), path.trouble);
  if (!path.trouble.empty()) return;
  auto stores = saved();
  stores[at("rdi", offsetof(Context, sp))] = {{"sp", -8}, 8};
  stores[{"sp", -8}] = {{"rdx"}, 8};
  report.equal("switch_jmp: pushes where to go on, and is a switch (" + story(path) + ")", text(path.stores),
               text(stores));
  report.equal("switch_jmp: restores every callee-saved register (" + story(path) + ")", restored(path), "");
}

// The alignment (modulo 16) of a fresh fiber's stack pointer after the switch's pop, as make_context sets it up.
std::int64_t alignment_of_a_fresh_fiber() {
  alignas(16) static std::byte stack[256];
  Context context;
  janus::arch::make_context(context, stack + sizeof stack, nullptr, nullptr, nullptr);
  return static_cast<std::int64_t>((context.sp + 8) % 16);
}

// rsp modulo 16 at the event, if rsp was `start` modulo 16 at the function's entry.
std::int64_t alignment(const Event& event, std::int64_t start) {
  const Value& sp = event.registers.at("rsp");
  return sp.symbol == "sp" ? ((start + sp.offset) % 16 + 16) % 16 : -1;
}

}  // namespace

void check_switch(const Image& image, Report& report) {
  auto wanted = stories_that_must_be_told(image.variable("janus_loads_mxcsr_quickly"));
  for (const auto& path : run(image, image.function("janus_context_switch").address)) {
    check_switch_path(path, report);
    report.claim("switch: loads the control words that differ", std::erase(wanted, story(path)) == 1, story(path));
  }
  for (const auto& path : run(image, image.function("janus_context_switch_jmp").address)) check_jmp_path(path, report);
  for (const auto& missing : wanted) report.claim("switch: also goes " + missing, false);
}

void check_fiber_entry(const Image& image, Report& report) {
  const std::int64_t fresh = alignment_of_a_fresh_fiber();
  const Path entry = run(image, image.function("janus_fiber_entry").address).front();
  const auto entry_calls = events(entry, "call");
  report.claim("entry: calls one function", entry.trouble.empty() && entry_calls.size() == 1, entry.trouble);
  if (entry_calls.size() == 1) {
    report.equal("entry: the function is r12", entry_calls[0].operand.text(), "r12");
    report.equal("entry: its argument is r13", entry_calls[0].registers.at("rdi").text(), "r13");
    report.claim("entry: it is called on a multiple of 16", alignment(entry_calls[0], fresh) == 0);
  }
  report.equal("entry: returns into the word that lies on the stack", entry.end + " " + entry.target.text(),
               "ret [sp]");
  report.equal("entry: balances the stack", entry.registers.at("rsp").text(), "sp+8");
  report.equal("entry: hands the result on untouched", entry.registers.at("rax").text(), "result");
  report.equal("entry: writes nothing", text(entry.stores), "");

  const Path cleanup = run(image, image.function("janus_fiber_cleanup").address).front();
  const auto cleanup_calls = events(cleanup, "call");
  report.claim("cleanup: calls one function", cleanup.trouble.empty() && cleanup_calls.size() == 1, cleanup.trouble);
  if (cleanup_calls.size() == 1) {
    report.equal("cleanup: the function is r14", cleanup_calls[0].operand.text(), "r14");
    report.equal("cleanup: its argument is the result", cleanup_calls[0].registers.at("rdi").text(), "rax");
    report.claim("cleanup: it is called on a multiple of 16", alignment(cleanup_calls[0], fresh + 8) == 0);
  }
  report.equal("cleanup: does not come back", cleanup.end, "ud2");
}

}  // namespace witness
