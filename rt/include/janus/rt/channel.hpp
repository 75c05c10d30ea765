// SPDX-License-Identifier: Apache-2.0
// janus/rt/channel.hpp: Channel<T>: values between tasks. A part of janus/rt.hpp.
#ifndef JANUS_RT_CHANNEL_HPP
#define JANUS_RT_CHANNEL_HPP

#include <janus/rt/closure.hpp>

namespace janus {
inline namespace v1 {

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
      T* box = detail::allocate<T>();
      if (!box) return detail::last_error();
      ::new (box) T(std::move(value));
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
      slot.wire->~T();
      janus_free(slot.wire);
      return result;
    }
  }

  // Moves the value back into the moved-from object that it came from, and frees the box.
  static void unbox(T* box, T& value) noexcept {
    value.~T();
    ::new (&value) T(std::move(*box));
    box->~T();
    janus_free(box);
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
