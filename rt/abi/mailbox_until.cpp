// SPDX-License-Identifier: Apache-2.0
// rt/abi/mailbox_until.cpp — janus/supervise.h: waits at mailboxes until a time at most. Apart, as it links the timers into
// the program.
#include "rt/abi/mailbox_calls.h"
#include "rt/abi/until.h"

namespace janus {

namespace {

// The deadline ends with the wait, since what follows may call a filter.
int wait_until(Channel& mailbox, Task& self, void* looked, BiasedLock::Hold hold, std::uint64_t limit_ns) noexcept {
  const Deadline deadline(self, limit_ns);
  return wait_for_message(mailbox, self, looked, hold, limit_ns);
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" {

int janus_mailbox_send_until(janus_mailbox* mailbox, const void* message, uint64_t deadline_ns) {
  return until(deadline_ns, [&] { return janus_mailbox_send(mailbox, message); });
}

int janus_mailbox_recv_until(janus_mailbox* mailbox, void* message, uint64_t deadline_ns) {
  return until(deadline_ns, [&] { return janus_mailbox_recv(mailbox, message); });
}

int janus_mailbox_recv_match_until(janus_mailbox* mailbox, int (*wants)(const void*, void*), void* arg, void* message,
                                   uint64_t deadline_ns) {
  return receive_matching_named(mailbox, {wants, arg}, message, wait_until, limit_at(deadline_ns));
}

}  // extern "C"
