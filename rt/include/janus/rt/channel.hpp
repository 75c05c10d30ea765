// SPDX-License-Identifier: Apache-2.0
// janus/rt/channel.hpp: Channel<T>: values between tasks. A part of janus/rt.hpp.
#ifndef JANUS_RT_CHANNEL_HPP
#define JANUS_RT_CHANNEL_HPP

#include <janus/rt/closure.hpp>

namespace janus {
inline namespace v1 {

namespace detail {

inline Result<std::size_t> count_of(int answer) noexcept {
  if (answer < 0) return error_of(answer);
  return static_cast<std::size_t>(answer);
}

template <class T, std::size_t kSize>
constexpr T* data_of(T (&array)[kSize]) noexcept {
  return array;
}
template <class T, std::size_t kSize>
constexpr std::size_t size_of(T (&)[kSize]) noexcept {
  return kSize;
}
template <class Values>
constexpr auto data_of(Values& values) noexcept -> decltype(values.data()) {
  return values.data();
}
template <class Values>
constexpr auto size_of(Values& values) noexcept -> decltype(static_cast<std::size_t>(values.size())) {
  return static_cast<std::size_t>(values.size());
}
template <class Values>
concept Contiguous = requires(Values& values) {
  data_of(values);
  size_of(values);
};

}  // namespace detail

template <class T>
class SendCase;
template <class T>
class RecvCase;

// Sends values of T between tasks, first come first served. Copies share the channel; the destructor of the last one
// closes it and destroys the values left in it. A T that is not trivially copyable is sent in a janus_alloc'ed box.
template <class T>
class Channel {
  static_assert(std::is_object_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T>,
                "janus: a channel carries values; send a pointer where a reference is meant");
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "janus: what a channel carries must be movable without throwing");

 public:
  // Capacity 0: a send waits for its receiver.
  explicit Channel(std::size_t capacity = 0) noexcept : shared_(detail::allocate<Shared>()) {
    if (!shared_) return;
    ::new (shared_) Shared{janus_channel_create(kPlain ? sizeof(T) : sizeof(T*), capacity), 1};
    if (shared_->channel) return;
    janus_free(shared_);
    shared_ = nullptr;
  }
  Channel(const Channel& other) noexcept : shared_(other.shared_) {
    if (shared_) __atomic_add_fetch(&shared_->owners, 1, __ATOMIC_RELAXED);
  }
  Channel(Channel&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  Channel& operator=(Channel other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~Channel() {
    if (shared_ && __atomic_sub_fetch(&shared_->owners, 1, __ATOMIC_ACQ_REL) == 0) destroy();
  }

  explicit operator bool() const noexcept { return shared_ != nullptr; }

  // JANUS_E_CLOSED or JANUS_CANCELLED: the value was not received and is destroyed.
  Result<void> send(T value) const noexcept { return put(&janus_channel_send, value); }
  // JANUS_E_CLOSED once closed and drained.
  Result<T> recv() const noexcept { return get(&janus_channel_recv); }
  // Returns JANUS_E_WOULD_BLOCK instead of waiting; `value` is moved from only if it was sent.
  Result<void> try_send(T&& value) const noexcept { return put(&janus_channel_try_send, value); }
  Result<void> try_send(const T& value) const noexcept requires std::copy_constructible<T> {
    T copy(value);
    return put(&janus_channel_try_send, copy);
  }
  Result<T> try_recv() const noexcept { return get(&janus_channel_try_recv); }
  // Sends up to `count` values, and moves from those that it has sent: waits while it has sent none, then sends what can be
  // sent at once. How many, or JANUS_E_CLOSED or JANUS_CANCELLED if none; at most 16 of a T that is not trivially copyable.
  Result<std::size_t> send_many(T* values, std::size_t count) const noexcept {
    if constexpr (kPlain)
      return detail::count_of(janus_channel_send_many(raw(), values, count));
    else
      return send_boxes(values, count < kBoxes ? count : kBoxes);
  }
  Result<std::size_t> send_many(const T* values,
                                std::size_t count) const noexcept requires std::is_trivially_copyable_v<T> {
    return detail::count_of(janus_channel_send_many(raw(), values, count));
  }
  // Receives up to `count` values, and assigns them to those at `values`; else likewise.
  Result<std::size_t> recv_many(T* values, std::size_t count) const noexcept {
    if constexpr (kPlain)
      return detail::count_of(janus_channel_recv_many(raw(), values, count));
    else
      return recv_boxes(values, count < kBoxes ? count : kBoxes);
  }
  // The same for an array, std::span, std::vector, or what else has its values one after the other.
  template <class Values>
  Result<std::size_t> send_many(Values&& values) const noexcept requires detail::Contiguous<Values> {
    return send_many(detail::data_of(values), detail::size_of(values));
  }
  template <class Values>
  Result<std::size_t> recv_many(Values&& values) const noexcept requires detail::Contiguous<Values> {
    return recv_many(detail::data_of(values), detail::size_of(values));
  }
  Result<void> close() const noexcept { return detail::result_of(janus_channel_close(raw())); }

  // for (T& value : channel): until it is closed and drained, or the task cancelled.
  class End {};
  class Iterator {
   public:
    explicit Iterator(const Channel& channel) noexcept : channel_(&channel), current_(channel.recv()) {}
    T& operator*() noexcept { return current_.value(); }
    Iterator& operator++() noexcept {
      current_ = channel_->recv();
      return *this;
    }
    friend bool operator==(const Iterator& at, End) noexcept { return !at.current_.ok(); }

   private:
    const Channel* channel_;
    Result<T> current_;
  };
  Iterator begin() const noexcept { return Iterator(*this); }
  End end() const noexcept { return {}; }

 private:
  friend class SendCase<T>;
  friend class RecvCase<T>;

  static constexpr std::size_t kBoxes = 16;  // in a call for many
  static constexpr bool kPlain = std::is_trivially_copyable_v<T>;
  using Wire = std::conditional_t<kPlain, T, T*>;  // the element type of the channel
  union Slot {
    Slot() noexcept {}
    ~Slot() {}
    Wire wire;
  };
  struct Shared {
    janus_channel* channel;
    std::uint32_t owners;
  };

  [[nodiscard]] janus_channel* raw() const noexcept { return shared_ ? shared_->channel : nullptr; }

  Result<void> put(int (*put_wire)(janus_channel*, const void*), T& value) const noexcept {
    if constexpr (kPlain) {
      return detail::result_of(put_wire(raw(), &value));
    } else {
      T* box = boxed(value);
      if (!box) return detail::last_error();
      const int code = put_wire(raw(), &box);
      if (code < 0) unbox(box, value);
      return detail::result_of(code);
    }
  }

  Result<T> get(int (*get_wire)(janus_channel*, void*)) const noexcept {
    Slot slot;
    const int code = get_wire(raw(), &slot.wire);
    if (code < 0) return detail::error_of(code);
    if constexpr (kPlain) {
      return slot.wire;
    } else {
      Result<T> result(std::move(*slot.wire));
      free_box(slot.wire);
      return result;
    }
  }

  Result<std::size_t> send_boxes(T* values, std::size_t count) const noexcept {
    T* boxes[kBoxes];
    std::size_t made = 0;
    while (made != count && (boxes[made] = boxed(values[made]))) ++made;
    if (made == 0 && count != 0) return detail::last_error();
    const int sent = janus_channel_send_many(raw(), boxes, made);
    for (std::size_t i = sent > 0 ? static_cast<std::size_t>(sent) : 0; i < made; ++i) unbox(boxes[i], values[i]);
    return detail::count_of(sent);
  }
  Result<std::size_t> recv_boxes(T* values, std::size_t count) const noexcept {
    T* boxes[kBoxes];
    const int received = janus_channel_recv_many(raw(), boxes, count);
    for (int i = 0; i < received; ++i) {
      values[i] = std::move(*boxes[i]);
      free_box(boxes[i]);
    }
    return detail::count_of(received);
  }

  static T* boxed(T& value) noexcept {
    T* box = detail::allocate<T>();
    if (box) ::new (box) T(std::move(value));
    return box;
  }
  static void free_box(T* box) noexcept {
    box->~T();
    janus_free(box);
  }
  // Moves the value back into the moved-from object that it came from, and frees the box.
  static void unbox(T* box, T& value) noexcept {
    value.~T();
    ::new (&value) T(std::move(*box));
    free_box(box);
  }

  void destroy() noexcept {
    (void)janus_channel_close(shared_->channel);
    if constexpr (!kPlain) {
      while (try_recv()) {
      }
    }
    janus_channel_release(shared_->channel);
    janus_free(shared_);
  }

  Shared* shared_;
};

}  // namespace v1
}  // namespace janus

#endif  // JANUS_RT_CHANNEL_HPP
