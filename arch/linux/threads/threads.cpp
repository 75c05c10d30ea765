// SPDX-License-Identifier: Apache-2.0
// arch/linux/threads/threads.cpp — threads without a libc. One mapping holds all memory of a thread, lowest address
// first:
//     guard | stack | guard | alternate stack | thread block
// A thread unmaps it as its last action. docs/decisions/0010
#include "arch/linux/kernel_call.h"
#include "arch/linux/threads/affinity.h"
#include "arch/linux/threads/alternate_stack.h"
#include "arch/linux/threads/thread_block.h"
#include "rt/platform.h"

extern "C" {
long janus_clone3(const janus::kernel::CloneArgs* args, std::size_t bytes, janus::kernel::ThreadBlock* block);
long janus_clone(std::uint64_t flags, std::byte* stack_top, janus::kernel::ThreadBlock* block);
[[noreturn]] void janus_unmap_and_exit(std::byte* mapping, std::size_t bytes);
[[noreturn]] void janus_thread_main(janus::kernel::ThreadBlock* block);
}

namespace janus::kernel {
namespace {

constexpr std::size_t kStackGuard = 64 * 1024, kStack = 256 * 1024, kAlternateGuard = kPage;
constexpr std::uint64_t kFlags =
    kCloneVm | kCloneFs | kCloneFiles | kCloneSighand | kCloneThread | kCloneSysvsem | kCloneSettls;
constexpr std::uint64_t kFaultSignals = signal_bit(kSigSegv) | signal_bit(kSigBus) | signal_bit(kSigFpe) |
                                        signal_bit(kSigIll) | signal_bit(kSigTrap) | signal_bit(kSigSys);

// By default the kernel ends sleeps up to 50 us late, to end several at once.
[[gnu::noinline]] void let_sleeps_end_in_time() {
  call(kPrctl, kPrSetTimerSlack, 1);
}

std::uint64_t set_signal_mask(std::uint64_t mask) {
  std::uint64_t old = 0;
  call(kSigprocmask, kSigSetmask, &mask, &old, sizeof mask);
  return old;
}

// Protects pages, although an installed guard would use no mapping: there are few threads, and tools that find the ends
// of a thread's stack by its mappings (valgrind) need protected ones.
bool make_guard(std::byte* at, std::size_t bytes) {
  return !failed(call(kMprotect, at, bytes, kProtNone));
}

// The kernel keeps 15 bytes of a name. Copies it, since the caller's may not exist any more when the thread reads it.
void copy_name(const char* name, char (&to)[16]) {
  for (std::size_t i = 0; name != nullptr && i < sizeof to - 1 && name[i] != '\0'; ++i) to[i] = name[i];
}

ThreadBlock* make_thread_memory() {
  const std::size_t bytes = kStackGuard + kStack + kAlternateGuard + alternate_stack_bytes() + kPage;
  std::byte* base = platform::map(bytes);
  if (base == nullptr) return nullptr;
  std::byte* alternate_guard = base + kStackGuard + kStack;
  if (!make_guard(base, kStackGuard) || !make_guard(alternate_guard, kAlternateGuard)) {
    platform::unmap(base, bytes);
    return nullptr;
  }
  auto* block = reinterpret_cast<ThreadBlock*>(base + bytes - kPage);
  block->self = block;
  block->alternate = alternate_guard + kAlternateGuard;
  block->mapping = base;
  block->mapping_bytes = bytes;
  return block;
}

long start(ThreadBlock* block) {
  std::byte* const stack = block->mapping + kStackGuard;
  if (platform::announce_stack != nullptr) platform::announce_stack(stack, stack + kStack);
  const CloneArgs args{
      kFlags, 0, 0, 0, 0, reinterpret_cast<std::uint64_t>(stack), kStack, reinterpret_cast<std::uint64_t>(block)};
  const long result = janus_clone3(&args, sizeof args, block);
  // Old kernels do not have clone3, and the filters of some container hosts return EPERM.
  if (result == -kENOSYS || result == -kEPERM) return janus_clone(kFlags, stack + kStack, block);
  return result;
}

}  // namespace
}  // namespace janus::kernel

// The new thread's first frame. All signals are blocked until there is an alternate stack; then only faults are
// unblocked: the process's other signals are for threads that existed before, as their handlers may need a libc.
extern "C" void janus_thread_main(janus::kernel::ThreadBlock* block) {
  using namespace janus::kernel;
  janus::platform::set_worker_slot(nullptr);  // the parent's gs base was inherited
  use_alternate_stack(block->alternate);
  set_signal_mask(~kFaultSignals);
  if (block->name[0] != '\0') call(kPrctl, kPrSetName, block->name);
  let_sleeps_end_in_time();
  pin(0, block->cpu);
  block->entry(block->arg);
  janus::platform::exit_thread();
}

namespace janus::platform {

using namespace janus::kernel;

bool start_thread(ThreadEntry entry, void* arg, int cpu, const char* name) noexcept {
  ThreadBlock* block = make_thread_memory();
  if (block == nullptr) return false;
  block->canary = canary_here();
  block->entry = entry;
  block->arg = arg;
  copy_name(name, block->name);
  block->cpu = cpu;
  const std::uint64_t mask = set_signal_mask(~std::uint64_t{0});
  const bool started = !failed(start(block));
  set_signal_mask(mask);
  if (!started) unmap(block->mapping, block->mapping_bytes);
  return started;
}

void exit_thread() noexcept {
  set_signal_mask(~std::uint64_t{0});
  set_worker_slot(nullptr);
  const SignalStack none{nullptr, kStackDisabled, 0};
  call(kSigaltstack, &none, nullptr);
  ThreadBlock* block;
  asm volatile("mov %%fs:0, %0" : "=r"(block));
  janus_unmap_and_exit(block->mapping, block->mapping_bytes);
}

bool adopt_thread(int cpu, const char* name) noexcept {
  const bool has_stack = ensure_alternate_stack();
  // The parent process may have blocked them, and a blocked fault ends the process even if there is a handler.
  call(kSigprocmask, kSigUnblock, &kFaultSignals, nullptr, sizeof kFaultSignals);
  if (name != nullptr) call(kPrctl, kPrSetName, name);
  let_sleeps_end_in_time();
  if (cpu >= 0) pin(0, cpu);
  return has_stack;
}

}  // namespace janus::platform
