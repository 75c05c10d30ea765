// SPDX-License-Identifier: Apache-2.0
// rt/abi/mailbox.cpp — janus/supervise.h: mailboxes. docs/decisions/0337
#include "rt/abi/mailbox_calls.h"
#include "rt/base/order_hooks.h"
#include "rt/task/channels/channel_life.h"
#include "rt/task/report/runtime_text.h"

namespace janus {

namespace {

// A function that the runtime calls by itself.
bool is_good_filter(int (*wants)(const void*, void*)) noexcept {
  return may_be_called(reinterpret_cast<void (*)(void*)>(reinterpret_cast<void (*)()>(wants)));
}

// Adds to an error of check_mailbox() the reason that janus_last_error_text shows.
int with_mailbox_named(int error) noexcept {
  return error == JANUS_E_INVALID ? with_why(error, Why::kNoMailbox) : error;
}

}  // namespace

int receive_matching_named(janus_mailbox* named, MailboxFilter filter, void* message, MailboxWait wait,
                           std::uint64_t limit_ns) noexcept {
  const Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  if (!is_good_filter(filter.wants)) return JANUS_E_INVALID;
  return transfer_at(me, named, message, true, [&](const Caller& now, Channel& mailbox, std::uint32_t secret) noexcept {
    return receive_matching(*now.task, mailbox, filter, message, secret, wait, limit_ns);
  });
}

}  // namespace janus

using namespace janus;

extern "C" {

janus_mailbox* janus_mailbox_create(size_t element_size, size_t capacity) {
  const Caller me = enter();
  Runtime* const runtime = runtime_or_own(nullptr, me);
  const OrError<Channel*> mailbox =
      runtime != nullptr ? create_mailbox(*runtime, worker_in(*runtime, me), me.task, element_size, capacity)
                         : Failed{with_why(JANUS_E_STATE, Why::kNoRuntime)};
  if (mailbox) return named_handle<ChannelKind::kMailbox, janus_mailbox>(*mailbox.value);
  set_error_of(me, runtime, me.task != nullptr ? me.task->account : nullptr, mailbox.error);
  return nullptr;
}

janus_mailbox* janus_mailbox_retain(janus_mailbox* named) {
  const Caller me = enter();
  const OrError<Channel*> mailbox = check_mailbox(me, named);
  int error = mailbox ? retain_channel(*mailbox.value, channel_secret<ChannelKind::kMailbox>(named)) : mailbox.error;
  if (error == 0) return named;
  if (error == JANUS_E_STATE) error = with_why(error, Why::kReferences);
  set_error(me, with_mailbox_named(error));
  return nullptr;
}

void janus_mailbox_release(janus_mailbox* named) {
  const Caller me = enter_free();
  const OrError<Channel*> found = check_mailbox(me, named);
  int error = found.error;
  if (Channel* const mailbox = found.value)
    error = release_channel(worker_in(*mailbox->runtime, me), *mailbox, channel_secret<ChannelKind::kMailbox>(named));
  if (error != 0) set_error(me, with_mailbox_named(error));
}

int janus_mailbox_send(janus_mailbox* named, const void* message) {
  const Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  return transfer_at(me, named, message, true, [&](const Caller& now, Channel& mailbox, std::uint32_t secret) noexcept {
    return send_message(now.worker, now.task, mailbox, message, secret);
  });
}

int janus_mailbox_try_send(janus_mailbox* named, const void* message) {
  return transfer_at(enter(), named, message, false,
                     [&](const Caller& now, Channel& mailbox, std::uint32_t secret) noexcept {
                       return send_message(now.worker, nullptr, mailbox, message, secret);
                     });
}

int janus_mailbox_recv(janus_mailbox* named, void* message) {
  const Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  return transfer_at(me, named, message, true, [&](const Caller& now, Channel& mailbox, std::uint32_t secret) noexcept {
    return receive_message(*now.task, mailbox, message, secret);
  });
}

int janus_mailbox_recv_match(janus_mailbox* named, int (*wants)(const void*, void*), void* arg, void* message) {
  return receive_matching_named(named, {wants, arg}, message, wait_for_message, platform::kForever);
}

int janus_mailbox_close(janus_mailbox* named) {
  const Caller me = enter();
  const OrError<Channel*> found = check_mailbox(me, named);
  if (!found) return found.error;
  Channel* const mailbox = found.value;
  order_hooks::release(mailbox);
  return close_channel(worker_in(*mailbox->runtime, me), *mailbox, channel_secret<ChannelKind::kMailbox>(named));
}

}  // extern "C"
