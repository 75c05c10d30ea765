// SPDX-License-Identifier: Apache-2.0
// arch/linux/start/start.cpp — the steps from the kernel's entry to janus_boot, which the layer above defines: the
// first thread's block, relocation, the call. Needs no environment, no /proc, no argv[0].
#include "arch/linux/auxv/auxv.h"
#include "arch/linux/auxv/elf.h"
#include "arch/linux/kernel_call.h"
#include "arch/linux/process/init.h"
#include "arch/linux/start/relocate.h"
#include "arch/linux/threads/thread_block.h"

extern "C" [[noreturn]] void janus_boot(int argc, char** argv, char** envp);

namespace janus::kernel {
namespace {

ThreadBlock g_first_thread;

const AuxEntry* find_auxv(char** envp) {
  while (*envp != nullptr) ++envp;
  return reinterpret_cast<const AuxEntry*>(envp + 1);
}

void relocate(const AuxEntry* aux, const elf::Dynamic* dynamic) {
  std::uint64_t segments = 0, count = 0;
  for (; aux->type != kAuxNull; ++aux) {
    if (aux->type == kAuxPhdr) segments = aux->value;
    if (aux->type == kAuxPhnum) count = aux->value;
  }
  elf::relocate_self(reinterpret_cast<const elf::Segment*>(segments), count, dynamic);
}

void give_first_thread_its_block() {
  g_first_thread.self = &g_first_thread;
  g_first_thread.canary = fresh_canary();
  call(kArchPrctl, kArchSetFs, &g_first_thread);
}

}  // namespace
}  // namespace janus::kernel

extern "C" [[noreturn]] void janus_start_process(std::uint64_t* initial_stack, const janus::elf::Dynamic* dynamic) {
  using namespace janus::kernel;
  const int argc = static_cast<int>(initial_stack[0]);
  char** argv = reinterpret_cast<char**>(initial_stack + 1);
  char** envp = argv + argc + 1;
  const AuxEntry* aux = find_auxv(envp);
  remember_auxv(aux);
  give_first_thread_its_block();  // before relocation, which may call user code: resolvers of multiversioned functions
  relocate(aux, dynamic);
  begin_as_init(envp);
  janus_boot(argc, argv, envp);
}
