// SPDX-License-Identifier: Apache-2.0
// context.cpp — makes a fiber that has not started yet, and chooses between the two ways of a switch.
#include <arch/context.h>
#include <arch/cpu.h>

// Whether ldmxcsr takes less time than a load of the word that stmxcsr has just stored. Read by context_switch.S.
extern "C" {
extern bool janus_loads_mxcsr_quickly;
bool janus_loads_mxcsr_quickly = false;
}

namespace janus::arch {
namespace {

template <class Function>
std::uint64_t address_of(Function* function) {
  return reinterpret_cast<std::uint64_t>(function);
}

// The last four letters of the maker's name, as cpuid returns them: of AuthenticAMD and HygonGenuine.
constexpr std::uint32_t kAmd = 0x444d4163, kHygon = 0x656e6975;

}  // namespace

// One cpuid only: in a virtual machine each takes microseconds.
void choose_switch() noexcept {
  const std::uint32_t maker = cpuid(0).ecx;
  __atomic_store_n(&janus_loads_mxcsr_quickly, maker == kAmd || maker == kHygon, __ATOMIC_RELAXED);
}

void make_context(Context& context, std::byte* stack_top, std::int64_t (*entry)(void*), void* arg,
                  void (*finished)(std::int64_t)) noexcept {
  auto* top = reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::uint64_t>(stack_top) & ~std::uint64_t{15});
  *--top = 0;  // the return address of janus_fiber_cleanup: none, so stack walkers end here
  *--top = address_of(janus_fiber_cleanup);
  *--top = address_of(janus_fiber_entry);

  // Three words below the top: the switch pops one, so janus_fiber_entry calls with rsp on a multiple of 16, and
  // janus_fiber_cleanup is entered 8 off it. rbp 0 ends the chain of frame pointers.
  context = {};
  context.sp = address_of(top);
  context.r12 = address_of(entry);
  context.r13 = reinterpret_cast<std::uint64_t>(arg);
  context.r14 = address_of(finished);
  context.mxcsr = kDefaultMxcsr;
  context.fcw = kDefaultFcw;
}

}  // namespace janus::arch
