// SPDX-License-Identifier: Apache-2.0
// context.cpp — makes a fiber that has not started yet.
#include <arch/context.h>

namespace janus::arch {
namespace {

template <class Function>
std::uint64_t address_of(Function* function) {
  return reinterpret_cast<std::uint64_t>(function);
}

}  // namespace

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
