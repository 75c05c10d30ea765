// SPDX-License-Identifier: Apache-2.0
// rt/abi/mailbox_calls.h — what the calls on mailboxes have in common.
#pragma once

#include "rt/abi/handle_kinds.h"
#include "rt/include/janus/supervise.h"
#include "rt/task/mailboxes/mailbox.h"

namespace janus {

inline OrError<Channel*> check_mailbox(const Caller& me, const janus_mailbox* named) noexcept {
  return check_named<ChannelKind::kMailbox>(me, named, "mailbox");
}

// Sends or receives: call(mailbox, secret). Paying may take long, so the mailbox may have ended meanwhile, and is looked
// up again.
template <typename Call>
int transfer_at(Caller me, const janus_mailbox* named, const void* message, bool may_wait, Call call) noexcept {
  OrError<Channel*> found = check_mailbox(me, named);
  if (!found) return found.error;
  const int answer = pay_for_transfer(me, found.value->element_bytes, may_wait);
  if (answer != 0) return answer;
  found = check_mailbox(me, named);
  if (!found) return found.error;
  if (message == nullptr) return JANUS_E_INVALID;
  return call(me, *found.value, channel_secret<ChannelKind::kMailbox>(named));
}

int receive_matching_named(janus_mailbox* mailbox, MailboxFilter filter, void* message, MailboxWait wait,
                           std::uint64_t limit_ns) noexcept;

}  // namespace janus
