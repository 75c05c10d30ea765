// SPDX-License-Identifier: Apache-2.0
// rt/task/report/runtime_fault.cpp — see runtime_fault.h.
#include "rt/task/report/runtime_fault.h"

#include <arch/task_call.h>

#include "rt/base/build_id.h"
#include "rt/base/format.h"
#include "rt/task/record/runtime.h"
#include "rt/task/report/backtrace.h"
#include "rt/task/report/log.h"
#include "rt/task/report/runtime_text.h"

namespace janus {

namespace {

std::uint64_t as_number(const void* pointer) noexcept {
  return reinterpret_cast<std::uint64_t>(pointer);
}

bool is_between(std::uint64_t ip, const char* first, const char* end) noexcept {
  return ip - as_number(first) < as_number(end) - as_number(first);
}

// Whether a word at `sp` is on the stack that the code ran on. Only then may it be read.
bool lies_on(const Stack& stack, std::uint64_t sp) noexcept {
  return sp >= as_number(stack.limit) && sp + sizeof(std::uint64_t) <= as_number(stack.start);
}

// Precondition: `sp` lies on the stack. The mem* functions have no frames, so their return address is on top of it.
std::uint64_t ip_outside_memory(const platform::Fault& fault) noexcept {
  if (!is_between(fault.ip, janus_memory_text, janus_text)) return fault.ip;
  return *reinterpret_cast<const std::uint64_t*>(fault.sp);
}

using Dump = Text<2048>;

void append_registers(Dump& dump, const platform::Registers& r) noexcept {
  dump.append("janus:   rax %016lx rbx %016lx rcx %016lx rdx %016lx\n", r.rax, r.rbx, r.rcx, r.rdx);
  dump.append("janus:   rsi %016lx rdi %016lx rbp %016lx rsp %016lx\n", r.rsi, r.rdi, r.rbp, r.rsp);
  dump.append("janus:   r8  %016lx r9  %016lx r10 %016lx r11 %016lx\n", r.r8, r.r9, r.r10, r.r11);
  dump.append("janus:   r12 %016lx r13 %016lx r14 %016lx r15 %016lx\n", r.r12, r.r13, r.r14, r.r15);
}

void append_build(Dump& dump) noexcept {
  const BuildId id = build_id();
  dump.append("janus:   build id ");
  for (std::size_t i = 0; i < id.count; ++i) dump.append("%02x", id.bytes[i]);
  dump.append("%s, the runtime's text %#lx to %#lx\n", id.bytes != nullptr ? "" : "unknown", as_number(janus_text),
              as_number(janus_text_end));
}

}  // namespace

bool is_in_runtime(const platform::Fault& fault) noexcept {
  for (const std::uint32_t at : janus_task_call_fn_at)
    if (fault.ip == as_number(reinterpret_cast<const void*>(&janus_task_call)) + at) return false;
  return is_between(ip_outside_memory(fault), janus_text, janus_text_end);
}

bool is_in_runtime(const platform::Fault& where, const Worker& worker) noexcept {
  const bool is_on_stack = worker.stack != nullptr && lies_on(*worker.stack, where.sp);
  return is_between(is_on_stack ? ip_outside_memory(where) : where.ip, janus_text, janus_text_end);
}

bool is_in_program(const platform::Fault& where, const Worker& worker) noexcept {
  if (janus_text_end == nullptr || worker.stack == nullptr || !lies_on(*worker.stack, where.sp)) return false;
  return is_between(ip_outside_memory(where), janus_text_end, etext);
}

bool is_runtimes_own(const platform::Fault& fault, Worker& worker) noexcept {
  const Stack* const stack = worker.stack;
  if (stack == nullptr || !lies_on(*stack, fault.sp)) return false;
  if (fault.has_address && runtime_of(worker).stacks.in_guard(stack, reinterpret_cast<const std::byte*>(fault.address)))
    return false;
  return is_in_runtime(fault);
}

void end_for_runtime_fault(const platform::Fault& fault, Worker& worker, const char* cause) noexcept {
  if (worker.is_dumping) platform::abort();  // the report itself has faulted
  worker.is_dumping = true;
  Dump dump;
  dump.append("janus: the runtime panicked: %s at %#lx, ip %#lx", cause, fault.address, fault.ip);
  if (const Task* const task = current_task(worker)) dump.append(", in a call of task %lu", task->id);
  dump.append(", worker %u\n", unsigned{worker.id});
  if (fault.registers != nullptr) append_registers(dump, *fault.registers);
  append_frames(dump, worker.stack, fault.ip, fault.fp);
  append_build(dump);
  say(dump.data(), dump.size());
  platform::abort();
}

}  // namespace janus
