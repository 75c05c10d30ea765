// SPDX-License-Identifier: Apache-2.0
// janus/rt/mailbox.hpp: Mailbox<T>: messages of which a receiver takes first what it wants, over janus/supervise.h. A part
// of janus/rt.hpp.
//
//     janus::Mailbox<Message> mine(100);
//     auto reply = mine.recv_match([&](const Message& message) { return message.reference == question.reference; });
#ifndef JANUS_RT_MAILBOX_HPP
#define JANUS_RT_MAILBOX_HPP

#include <janus/supervise.h>
#include <janus/rt/result.hpp>

namespace janus {
inline namespace v1 {

// A bounded queue of messages. Copies are the same mailbox; the destructor of the last one closes it. Filters look at
// messages while others may take these, so a message is copied byte by byte, and owns nothing.
template <class T>
class Mailbox {
  static_assert(std::is_object_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T>,
                "janus: a mailbox carries values; send a pointer where a reference is meant");
  static_assert(std::is_trivially_copyable_v<T>,
                "janus: a mailbox copies its messages byte by byte; send a pointer to what cannot be copied so");

 public:
  // For up to `capacity` messages, 1 or more.
  explicit Mailbox(std::size_t capacity) noexcept : mailbox_(janus_mailbox_create(sizeof(T), capacity)) {}
  Mailbox(const Mailbox& other) noexcept : mailbox_(other.mailbox_ ? janus_mailbox_retain(other.mailbox_) : nullptr) {}
  Mailbox(Mailbox&& other) noexcept : mailbox_(std::exchange(other.mailbox_, nullptr)) {}
  Mailbox& operator=(Mailbox other) noexcept {
    std::swap(mailbox_, other.mailbox_);
    return *this;
  }
  ~Mailbox() {
    if (mailbox_) janus_mailbox_release(mailbox_);
  }

  explicit operator bool() const noexcept { return mailbox_ != nullptr; }

  // Waits for room. JANUS_E_CLOSED, JANUS_CANCELLED, or with a deadline JANUS_E_TIMEOUT: the message was not taken.
  Result<void> send(const T& message) const noexcept {
    return detail::result_of(janus_mailbox_send(mailbox_, &message));
  }
  Result<void> send_until(const T& message, std::uint64_t deadline_ns) const noexcept {
    return detail::result_of(janus_mailbox_send_until(mailbox_, &message, deadline_ns));
  }
  // Returns JANUS_E_WOULD_BLOCK instead of waiting.
  Result<void> try_send(const T& message) const noexcept {
    return detail::result_of(janus_mailbox_try_send(mailbox_, &message));
  }
  // The oldest message. JANUS_E_CLOSED once closed and empty.
  Result<T> recv() const noexcept {
    return receive([this](void* to) { return janus_mailbox_recv(mailbox_, to); });
  }
  Result<T> recv_until(std::uint64_t deadline_ns) const noexcept {
    return receive([&](void* to) { return janus_mailbox_recv_until(mailbox_, to, deadline_ns); });
  }
  // The oldest message for which wants(message) is true; the others stay. In one call it is asked about each message once.
  // Of a closure without captures the mailbox also remembers what it said no to in earlier calls (of 8 such closures), so
  // that must depend on the message alone.
  template <class Wants>
  Result<T> recv_match(Wants&& wants) const noexcept {
    if constexpr (std::is_function_v<std::remove_reference_t<Wants>>)
      return recv_match(&wants);
    else
      return receive([&](void* to) { return janus_mailbox_recv_match(mailbox_, filter<Wants>, arg_of(wants), to); });
  }
  template <class Wants>
  Result<T> recv_match_until(Wants&& wants, std::uint64_t deadline_ns) const noexcept {
    if constexpr (std::is_function_v<std::remove_reference_t<Wants>>)
      return recv_match_until(&wants, deadline_ns);
    else
      return receive([&](void* to) {
        return janus_mailbox_recv_match_until(mailbox_, filter<Wants>, arg_of(wants), to, deadline_ns);
      });
  }
  Result<void> close() const noexcept { return detail::result_of(janus_mailbox_close(mailbox_)); }

  // For the functions of janus/supervise.h.
  [[nodiscard]] janus_mailbox* raw() const noexcept { return mailbox_; }

 private:
  union Slot {
    Slot() noexcept {}
    T message;
  };

  // Called without an object, which is the same as with any.
  template <class Wants>
  static constexpr bool kHasNoState =
      std::is_empty_v<std::remove_reference_t<Wants>>&& std::is_default_constructible_v<std::remove_cvref_t<Wants>>;

  template <class Wants>
  static void* arg_of(Wants& wants) noexcept {
    static_assert(std::is_invocable_r_v<bool, Wants&, const T&>,
                  "janus: a filter is called with a const message, and says whether it is wanted");
    if constexpr (kHasNoState<Wants>)
      return nullptr;
    else
      return const_cast<void*>(static_cast<const void*>(&wants));
  }
  template <class Wants>
  static int filter(const void* message, void* arg) noexcept {
    const T& its = *static_cast<const T*>(message);
    if constexpr (kHasNoState<Wants>)
      return std::remove_cvref_t<Wants>{}(its) ? 1 : 0;
    else
      return (*static_cast<std::remove_reference_t<Wants>*>(arg))(its) ? 1 : 0;
  }

  template <class Receive>
  static Result<T> receive(Receive receive_to) noexcept {
    Slot slot;
    const int code = receive_to(&slot.message);
    if (code < 0) return detail::error_of(code);
    return std::move(slot.message);
  }

  janus_mailbox* mailbox_;
};

}  // namespace v1
}  // namespace janus

#endif  // JANUS_RT_MAILBOX_HPP
