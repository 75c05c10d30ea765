// SPDX-License-Identifier: Apache-2.0
// janus/rt/select.hpp: waiting for one of several channels. A part of janus/rt.hpp.
//
//     Job job;
//     auto taken = janus::select(janus::recv_case(jobs, job), janus::send_case(done, 1));
//     if (!taken) return taken.error();                            // JANUS_CANCELLED
//     if (taken.value().index == 0 && taken.value().status) ...    // `job` has been received
#ifndef JANUS_RT_SELECT_HPP
#define JANUS_RT_SELECT_HPP

#include <janus/rt/calling_task.hpp>
#include <janus/rt/channel.hpp>

namespace janus {
inline namespace v1 {

// Cases are made by send_case() and recv_case(), in the call of select().
template <class T>
class SendCase {
 public:
  // `moved`, or a copy of `copied`.
  SendCase(const Channel<T>& channel, T* moved, const T* copied) noexcept
      : channel_(channel), moved_(moved), copied_(copied) {}

  // False: there is no memory.
  bool prepare() noexcept {
    if constexpr (!kPlain) {
      box_ = detail::allocate<T>();
      if (!box_) return false;
      if (moved_)
        ::new (box_) T(std::move(*moved_));
      else if constexpr (std::copy_constructible<T>)
        ::new (box_) T(*copied_);
    }
    return true;
  }
  [[nodiscard]] janus_select_case raw() noexcept {
    if constexpr (kPlain)
      return {channel_.raw(), const_cast<T*>(moved_ ? moved_ : copied_), JANUS_SEND, 0};
    else
      return {channel_.raw(), &box_, JANUS_SEND, 0};
  }
  void finish(bool is_sent) noexcept {
    if constexpr (!kPlain) {
      if (is_sent || !box_) return;
      if (moved_)
        Channel<T>::unbox(box_, *moved_);
      else
        Channel<T>::free_box(box_);
    }
  }

 private:
  static constexpr bool kPlain = Channel<T>::kPlain;
  const Channel<T>& channel_;
  T* const moved_;
  const T* const copied_;
  T* box_ = nullptr;
};

template <class T>
class RecvCase {
 public:
  RecvCase(const Channel<T>& channel, T& into) noexcept : channel_(channel), into_(into) {}

  static constexpr bool prepare() noexcept { return true; }
  [[nodiscard]] janus_select_case raw() noexcept {
    if constexpr (kPlain)
      return {channel_.raw(), &into_, JANUS_RECV, 0};
    else
      return {channel_.raw(), &box_, JANUS_RECV, 0};
  }
  void finish(bool is_received) noexcept {
    if constexpr (!kPlain) {
      if (!is_received) return;
      into_ = std::move(*box_);
      Channel<T>::free_box(box_);
    }
  }

 private:
  static constexpr bool kPlain = Channel<T>::kPlain;
  const Channel<T>& channel_;
  T& into_;
  T* box_ = nullptr;
};

// Sends `value` if the case is taken: an rvalue is moved from then, and only then; an lvalue is copied.
template <class T>
SendCase<T> send_case(const Channel<T>& channel, std::type_identity_t<T>&& value) noexcept {
  return {channel, &value, nullptr};
}
template <class T>
SendCase<T> send_case(const Channel<T>& channel,
                      const std::type_identity_t<T>& value) noexcept requires std::copy_constructible<T> {
  return {channel, nullptr, &value};
}
// Assigns what was received to `into`.
template <class T>
RecvCase<T> recv_case(const Channel<T>& channel, std::type_identity_t<T>& into) noexcept {
  return {channel, into};
}

// The case that a select has taken.
struct Selected {
  std::size_t index;    // among the arguments
  Result<void> status;  // a failure: JANUS_E_CLOSED
};

namespace detail {

template <class Case>
inline constexpr bool is_case = false;
template <class T>
inline constexpr bool is_case<SendCase<T>> = true;
template <class T>
inline constexpr bool is_case<RecvCase<T>> = true;

template <class Case>
concept SelectCase = is_case<std::remove_cvref_t<Case>>;

template <class Call, class... Cases>
Result<Selected> select_by(Call call, Cases&... cases) noexcept {
  const bool is_prepared = (cases.prepare() && ...);
  janus_select_case raw[] = {cases.raw()...};
  const int taken = is_prepared ? call(raw, sizeof...(Cases)) : 0;
  const Error failure = is_prepared ? error_of(taken) : last_error();
  int index = 0;
  const bool is_done = is_prepared && taken >= 0 && raw[taken].status == 0;
  (cases.finish(is_done && index++ == taken), ...);
  if (!is_prepared || taken < 0) return failure;
  return Selected{static_cast<std::size_t>(taken), result_of(raw[taken].status)};
}

}  // namespace detail

// Waits until one of the cases is ready, and takes it alone; if several are, each is as likely as the others. A closed
// channel is ready, too (`status`). JANUS_CANCELLED, or JANUS_E_BUDGET or another error of janus_select.
template <detail::SelectCase... Cases>
Result<Selected> select(Cases&&... cases) noexcept {
  return detail::select_by([](auto* raw, std::size_t n) noexcept { return janus_select(raw, n, -1); }, cases...);
}
// JANUS_E_TIMEOUT if none is ready when janus_now_ns() is `deadline_ns` (0: for ever).
template <detail::SelectCase... Cases>
Result<Selected> select_until(std::uint64_t deadline_ns, Cases&&... cases) noexcept {
  return detail::select_by(
      [deadline_ns](auto* raw, std::size_t n) noexcept { return janus_select_until(raw, n, deadline_ns); }, cases...);
}
// The same at the end of a time from now.
template <detail::SelectCase... Cases>
Result<Selected> select_for(Duration duration, Cases&&... cases) noexcept {
  return select_until(deadline_in(duration), cases...);
}
template <detail::ChronoDuration T, detail::SelectCase... Cases>
Result<Selected> select_for(const T& duration, Cases&&... cases) noexcept {
  return select_for(detail::duration_of(duration), cases...);
}
// Does not wait: JANUS_E_TIMEOUT if none is ready.
template <detail::SelectCase... Cases>
Result<Selected> try_select(Cases&&... cases) noexcept {
  return detail::select_by([](auto* raw, std::size_t n) noexcept { return janus_select(raw, n, 0); }, cases...);
}

}  // namespace v1
}  // namespace janus

#endif  // JANUS_RT_SELECT_HPP
