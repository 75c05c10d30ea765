// SPDX-License-Identifier: Apache-2.0
// rt/task/mailboxes/mailbox.cpp — see mailbox.h.
#include "rt/task/mailboxes/mailbox.h"

#include <new>

#include "rt/base/numbered.h"
#include "rt/base/order_hooks.h"
#include "rt/task/account/charge.h"
#include "rt/task/channels/channel_hold.h"
#include "rt/task/channels/channel_life.h"
#include "rt/task/channels/channel_wait.h"
#include "rt/task/channels/element.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/children.h"

namespace janus {

namespace {

// The bytes of the message are behind it.
struct Message : Numbered {
  std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

// A filter that has nothing but the message to go by, and up to which message it was asked.
struct LookedAt {
  int (*wants)(const void*, void*);
  std::uint64_t number;
};

// A receiver that waits: up to which message it has looked, and the filter by which (nullptr: it wants any). The `data` of
// its ChannelWait, on its stack.
struct WaitingReceiver {
  std::uint64_t looked;
  int (*wants)(const void*, void*);

  static const WaitingReceiver& of(const ChannelWait& wait) noexcept {
    return *static_cast<const WaitingReceiver*>(wait.data);
  }
};

// At the front of the buffer. The channel's `count` is that of the messages, its `first` is for reports.
struct Mailbox {
  static constexpr unsigned kFilters = 8;  // that are remembered

  std::size_t stride = 0;    // from message to message
  std::size_t cut = 0;       // messages that were ever used
  Message* free = nullptr;   // of these; linked by `lower`
  std::size_t woken = 0;     // receivers that were woken, and have not looked yet
  std::uint64_t newest = 0;  // the number of the last message
  NumberedSet<Message> messages;
  LookedAt looked[kFilters] = {};
  unsigned forgotten = 0;  // the next of `looked` to be replaced

  static Mailbox& of(Channel& mailbox) noexcept { return *reinterpret_cast<Mailbox*>(mailbox.buffer); }

  // Precondition: there is room.
  Message* take_free() noexcept {
    if (Message* const message = free) {
      free = static_cast<Message*>(message->lower);
      return message;
    }
    return reinterpret_cast<Message*>(reinterpret_cast<std::byte*>(this + 1) + cut++ * stride);
  }
  void give_free(Message* message) noexcept {
    message->lower = free;
    free = message;
  }

  [[nodiscard]] LookedAt* find(const MailboxFilter& filter) noexcept {
    if (filter.arg != nullptr) return nullptr;
    for (LookedAt& one : looked)
      if (one.wants == filter.wants) return &one;
    return nullptr;
  }
  [[nodiscard]] std::uint64_t looked_by(const MailboxFilter& filter) noexcept {
    const LookedAt* const found = find(filter);
    return found != nullptr ? found->number : 0;
  }
  void remember(const MailboxFilter& filter, std::uint64_t number) noexcept {
    if (filter.arg != nullptr) return;
    LookedAt* one = find(filter);
    if (one == nullptr) {
      one = &looked[forgotten++ % kFilters];
      *one = {filter.wants, number};
    }
    if (one->number < number) one->number = number;
  }
};

Worker* worker_at(const Channel& mailbox) noexcept {
  return worker_of(*mailbox.runtime);
}

// --- Under the lock --------------------------------------------------------------------------------------------------

// Names the filter of the receiver that has waited longest.
void name_filter(Channel& mailbox) noexcept {
  const ChannelWait* const first = mailbox.receivers.front();
  mailbox.first = first != nullptr ? reinterpret_cast<std::uintptr_t>(WaitingReceiver::of(*first).wants) : 0;
}

// About to wait behind the others.
void name_filter_of(Channel& mailbox, const WaitingReceiver& last) noexcept {
  if (mailbox.receivers.is_empty()) mailbox.first = reinterpret_cast<std::uintptr_t>(last.wants);
}

void wake_next_receiver(Channel& mailbox) noexcept {
  Mailbox& box = Mailbox::of(mailbox);
  ChannelWait* const first = mailbox.receivers.front();
  if (first == nullptr || mailbox.count <= box.woken) return;
  if (WaitingReceiver::of(*first).looked >= box.newest) return;
  List<ChannelWait>::remove(first);
  name_filter(mailbox);
  ++box.woken;
  complete_wait(worker_at(mailbox), *first, ChannelWait::Status::kServed);
}

// Adds a message that was copied to a free place.
void add(Channel& mailbox, Message& message) noexcept {
  Mailbox& box = Mailbox::of(mailbox);
  message.number = ++box.newest;
  box.messages.add_last(message);
  ++mailbox.count;
}

// False: the sender's memory cannot be accessed.
bool put(Channel& mailbox, const void* from) noexcept {
  Mailbox& box = Mailbox::of(mailbox);
  Message* const message = box.take_free();
  if (copy_user_bytes(message->bytes(), from, mailbox.element_bytes) != arch::UserCopy::kDone) {
    box.give_free(message);
    return false;
  }
  add(mailbox, *message);
  return true;
}

// Takes the messages of senders that wait, while there is room.
void let_senders_in(Channel& mailbox) noexcept {
  BadWaits bad(worker_at(mailbox));
  while (mailbox.count < mailbox.capacity) {
    ChannelWait* const first = mailbox.senders.front();
    if (first == nullptr) return;
    if (!put(mailbox, first->data)) {
      bad.drop(mailbox, Direction::kSend, *first, ChannelWait::Status::kBadMemory);
      continue;
    }
    List<ChannelWait>::remove(first);
    complete_wait(worker_at(mailbox), *first, ChannelWait::Status::kServed);
  }
}

bool copy_out(const Channel& mailbox, Message& message, void* to) noexcept {
  return copy_user_bytes(to, message.bytes(), mailbox.element_bytes) == arch::UserCopy::kDone;
}

// False: the receiver's memory cannot be accessed, and the message stays.
bool take(Channel& mailbox, Message& message, void* to) noexcept {
  if (!copy_out(mailbox, message, to)) return false;
  Mailbox& box = Mailbox::of(mailbox);
  box.messages.remove(message);
  box.give_free(&message);
  --mailbox.count;
  let_senders_in(mailbox);
  return true;
}

int receive_locked(ChannelHold& hold, Channel& mailbox, Message& message, void* to) noexcept {
  const bool is_taken = take(mailbox, message, to);
  wake_next_receiver(mailbox);
  hold.unlock();
  if (!is_taken) {
    blame_caller();
    return kErrorInvalid;  // not reached: only tasks receive
  }
  order_hooks::acquire(&mailbox);
  order_hooks::writes(to, mailbox.element_bytes);
  return 0;
}

}  // namespace

OrError<Channel*> create_mailbox(Runtime& runtime, Worker* worker, Task* task, std::size_t message_bytes,
                                 std::size_t capacity) noexcept {
  std::size_t bytes = 0;
  const std::size_t stride = sizeof(Message) + (message_bytes + 7) / 8 * 8;
  if (message_bytes == 0 || message_bytes > kMaxMessageBytes || capacity == 0 ||
      __builtin_mul_overflow(stride, capacity, &bytes) || __builtin_add_overflow(bytes, sizeof(Mailbox), &bytes))
    return Failed{with_why(kErrorInvalid, Why::kMessage)};
  const OrError<Channel*> made = create_channel(runtime, worker, task, 1, bytes);
  if (!made) return made;
  Channel& mailbox = *made.value;
  Mailbox& box = *new (mailbox.buffer) Mailbox;
  box.stride = stride;
  box.messages.salt(make_handle(runtime, HandleKind::kSalt, mailbox.life.load(std::memory_order_relaxed), 0));
  set_kind(mailbox, ChannelKind::kMailbox);
  mailbox.element_bytes = static_cast<std::uint32_t>(message_bytes);
  mailbox.capacity = capacity;
  return made;
}

int send_message(Worker* worker, Task* waiter, Channel& mailbox, const void* message, std::uint32_t secret) noexcept {
  order_hooks::release(&mailbox);
  for (;;) {
    if (waiter != nullptr) publish_before_wait(*waiter);
    ChannelHold hold(worker, mailbox);
    if (!mailbox.is_alive(secret)) return kErrorStale;
    if (mailbox.state == ChannelState::kClosed) return kErrorClosed;
    const std::size_t bytes = mailbox.element_bytes;
    order_hooks::reads(message, bytes);
    if (mailbox.count < mailbox.capacity) {
      if (put(mailbox, message)) {
        wake_next_receiver(mailbox);
        return 0;
      }
      hold.unlock();
      blame_for_own<Direction::kSend>(const_cast<void*>(message), bytes);
      continue;
    }
    if (waiter == nullptr) return kErrorWouldBlock;
    const int result = wait_at(mailbox, *waiter, mailbox.senders, const_cast<void*>(message), hold.give_away());
    if (result != kTryAgain) return result;
    worker = &current_worker();
  }
}

namespace {

// What the wait of a receiver came to. True: it looks again; who learns that the mailbox was closed does so, too, since what
// was sent before may have come to others first. Else it has left the queue itself.
bool looks_again(Channel& mailbox, std::uint32_t secret, int result) noexcept {
  if (result >= 0 || result == kErrorClosed) return true;
  const ChannelHold hold(&current_worker(), mailbox);
  if (mailbox.is_alive(secret)) name_filter(mailbox);
  return false;
}

}  // namespace

int receive_message(Task& self, Channel& mailbox, void* message, std::uint32_t secret) noexcept {
  int result = 1;  // of the last wait
  for (;;) {
    publish_before_wait(self);
    ChannelHold hold(&current_worker(), mailbox);
    if (!mailbox.is_alive(secret)) return result == kErrorClosed ? kErrorClosed : kErrorStale;
    Mailbox& box = Mailbox::of(mailbox);
    if (result == 0) --box.woken;
    if (Message* const oldest = box.messages.after(0)) return receive_locked(hold, mailbox, *oldest, message);
    if (mailbox.state == ChannelState::kClosed) return kErrorClosed;
    WaitingReceiver waiting{box.newest, nullptr};
    name_filter_of(mailbox, waiting);
    result = wait_at(mailbox, self, mailbox.receivers, &waiting, hold.give_away());
    if (!looks_again(mailbox, secret, result)) return result;
  }
}

int wait_for_message(Channel& mailbox, Task& self, void* looked, BiasedLock::Hold hold, std::uint64_t) noexcept {
  return wait_at(mailbox, self, mailbox.receivers, looked, hold);
}

int receive_matching(Task& self, Channel& mailbox, MailboxFilter filter, void* message, std::uint32_t secret,
                     MailboxWait wait, std::uint64_t limit_ns) noexcept {
  std::uint64_t looked = 0;
  bool is_wanted = false;  // what it has looked at last
  int result = 1;          // of the last wait, as above
  for (bool is_first = true;; is_first = false) {
    publish_before_wait(self);
    ChannelHold hold(&current_worker(), mailbox);
    if (!mailbox.is_alive(secret)) return result == kErrorClosed ? kErrorClosed : kErrorStale;
    Mailbox& box = Mailbox::of(mailbox);
    if (result == 0) --box.woken;
    result = 1;
    if (Message* const wanted = is_wanted ? box.messages.find(looked) : nullptr)
      return receive_locked(hold, mailbox, *wanted, message);
    if (is_first)
      looked = box.looked_by(filter);
    else if (!is_wanted)
      box.remember(filter, looked);
    wake_next_receiver(mailbox);
    if (Message* const next = box.messages.after(looked)) {
      looked = next->number;
      const bool is_copied = copy_out(mailbox, *next, message);
      const std::size_t bytes = mailbox.element_bytes;
      hold.unlock();
      if (!is_copied) blame_caller();
      order_hooks::acquire(&mailbox);
      order_hooks::writes(message, bytes);
      (void)charge_ops(self, price::kCall + static_cast<std::int64_t>(bytes / price::kBytesPerOp));
      if (sees_cancel(self)) return kCancelledCode;
      is_wanted = filter.wants(message, filter.arg) != 0;
      continue;
    }
    is_wanted = false;
    if (mailbox.state == ChannelState::kClosed) return kErrorClosed;
    looked = box.newest;
    WaitingReceiver waiting{looked, filter.wants};
    name_filter_of(mailbox, waiting);
    result = wait(mailbox, self, &waiting, hold.give_away(), limit_ns);
    if (!looks_again(mailbox, secret, result)) return result;
  }
}

}  // namespace janus
