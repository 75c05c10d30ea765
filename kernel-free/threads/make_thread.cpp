// SPDX-License-Identifier: Apache-2.0
// make_thread.cpp — makes threads. One mapping holds all memory of a thread, lowest address first:
//     guard | stack | guard | fault stack | the record
#include "kernel-free/threads/make_thread.h"

#include "kernel-free/cpu/selectors.h"
#include "kernel-free/memory/page_tables.h"
#include "kernel-free/smp/per_cpu.h"

namespace janus::bare {
namespace {

constexpr std::size_t kStackGuard = 64 * 1024, kFaultGuard = kPage, kFaultStack = 16 * 1024;

// A thread's first frame.
[[noreturn]] void thread_main(Thread* thread) {
  thread->entry(thread->arg);
  platform::exit_thread();
}

bool make_guard(std::byte* at, std::size_t bytes) {
  std::size_t made = 0;
  return platform::guard(at, bytes, 1, bytes, made) != platform::Guard::kNone;
}

void copy_name(const char* name, char (&to)[16]) {
  for (std::size_t n = 0; name != nullptr && n < sizeof to - 1 && name[n] != '\0'; ++n) to[n] = name[n];
}

void prepare_frame(TrapFrame& frame, Thread& thread, std::byte* stack_top) {
  frame.rip = reinterpret_cast<std::uint64_t>(&thread_main);
  frame.rdi = reinterpret_cast<std::uint64_t>(&thread);
  frame.cs = SELECTOR_CODE;
  frame.rflags = kFlagInterrupts;
  frame.rsp = reinterpret_cast<std::uint64_t>(stack_top) - 8;  // as after a call
}

}  // namespace

Thread* make_thread(std::size_t stack_bytes, platform::ThreadEntry entry, void* arg, Cpu& cpu,
                    const char* name) noexcept {
  const std::size_t bytes = kStackGuard + stack_bytes + kFaultGuard + kFaultStack + kPage;
  std::byte* const base = platform::map(bytes);
  if (base == nullptr) return nullptr;
  std::byte* const fault_guard = base + kStackGuard + stack_bytes;
  std::byte* const record = base + bytes - kPage;
  // These pages must be present when a trap writes to them: it cannot handle a page fault there, and no memory may be
  // left.
  bool is_there = true;
  for (std::byte* page = record - kFaultStack; page <= record; page += kPage)
    is_there = is_there && fill(reinterpret_cast<std::uint64_t>(page)) == Filled::kYes;
  if (!is_there || !make_guard(base, kStackGuard) || !make_guard(fault_guard, kFaultGuard)) {
    platform::unmap(base, bytes);
    return nullptr;
  }
  auto& thread = *reinterpret_cast<Thread*>(record);  // zeroed
  thread.self = &thread;
  thread.canary = this_thread().canary;
  thread.cpu = &cpu;
  copy_name(name, thread.name);
  thread.fault_stack_top = record;
  thread.entry = entry;
  thread.arg = arg;
  thread.mapping = base;
  thread.mapping_bytes = bytes;
  init_vectors(thread.vectors);
  prepare_frame(thread.frame, thread, fault_guard);
  return &thread;
}

void free_thread(Thread& thread) noexcept {
  BARE_ASSERT(thread.is_dead && &thread != &this_thread());
  platform::unmap(thread.mapping, thread.mapping_bytes);
}

}  // namespace janus::bare
