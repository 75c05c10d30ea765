// SPDX-License-Identifier: Apache-2.0
// arch/linux/signals/signal_action.cpp — see signal_action.h. docs/decisions/0013
#include "arch/linux/signals/signal_action.h"

#include "arch/linux/kernel_call.h"

extern "C" void janus_signal_return();  // signal_return.S

namespace janus::kernel {

SignalAction get_action(int signal) noexcept {
  SignalAction action{};
  call(kSigaction, signal, nullptr, &action, sizeof action.mask);
  return action;
}

bool set_action(int signal, const SignalAction& action) noexcept {
  return !failed(call(kSigaction, signal, &action, nullptr, sizeof action.mask));
}

SignalAction action_for(SignalHandler handler, std::uint64_t flags) noexcept {
  return {reinterpret_cast<std::uintptr_t>(handler), flags | kSaSiginfo | kSaOnstack | kSaRestorer, janus_signal_return,
          0};
}

bool calls(const SignalAction& action, SignalHandler handler) noexcept {
  return action.handler == reinterpret_cast<std::uintptr_t>(handler);
}

void raise_here(int signal) noexcept {
  call(kTgkill, call(kGetpid), call(kGettid), signal);
}

}  // namespace janus::kernel
