// SPDX-License-Identifier: Apache-2.0
// janus/rt/result.hpp: results and failures: Error and Result<T>. A part of janus/rt.hpp.
#ifndef JANUS_RT_RESULT_HPP
#define JANUS_RT_RESULT_HPP

#include <janus/rt.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace janus {
inline namespace v1 {

// A failure: `code` as in rt.h (the nursery table, a task's own negative value, or JANUS_E_*), and `kind` one of
// JANUS_KIND_*, or kCall if the call itself was refused.
struct Error {
  static constexpr std::uint32_t kCall = 0x100;
  std::int64_t code;
  std::uint32_t kind;
};

template <class T>
class Result;
template <class T>
class Task;

namespace detail {

constexpr std::uint32_t kind_of(std::int64_t code) noexcept {
  if (code == JANUS_CANCELLED) return JANUS_KIND_CANCELLED;
  if (code == JANUS_PANIC) return JANUS_KIND_PANIC;
  if (code == JANUS_BUDGET_EXCEEDED) return JANUS_KIND_BUDGET_EXCEEDED;
  if (code == JANUS_PENDING) return JANUS_KIND_PENDING;
  return code <= JANUS_E_CLOSED && code >= JANUS_E_UNSUPPORTED ? Error::kCall : JANUS_KIND_CHILD_FAILED;
}

constexpr Error error_of(std::int64_t code) noexcept {
  return {code, kind_of(code)};
}

// The error after a NULL or {0}. A missing error is a bug of the runtime, and must not look like success.
inline Error last_error() noexcept {
  const int code = janus_last_error();
  return error_of(code < 0 ? code : JANUS_E_INVALID);
}

template <class T>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<Result<T>> = true;

// A type that a Result can hold: one that can be moved without failing.
template <class T>
constexpr void check_value() {
  static_assert(!std::is_reference_v<T>, "janus: a result is a value; return a pointer where a reference is meant");
  static_assert(!std::is_same_v<std::remove_cv_t<T>, Error> && !is_result<T>,
                "janus: a Result holds a value, neither an Error nor another Result");
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "janus: a result crosses tasks by a move, which must be noexcept");
}

template <class T>
T* allocate() noexcept {
  if constexpr (alignof(T) <= 16)
    return static_cast<T*>(janus_alloc(sizeof(T)));
  else
    return static_cast<T*>(janus_alloc_aligned(alignof(T), sizeof(T)));
}

}  // namespace detail

// A T, or an Error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T&& value) noexcept : ok_(true), value_(std::move(value)) { detail::check_value<T>(); }
  Result(const T& value) noexcept(std::is_nothrow_copy_constructible_v<T>) requires std::copy_constructible<T>
      : ok_(true), value_(value) {
    detail::check_value<T>();
  }
  Result(Error error) noexcept : ok_(false), error_(error) {}
  Result(Result&& other) noexcept : ok_(other.ok_) { take(std::move(other)); }
  Result(const Result& other) noexcept(std::is_nothrow_copy_constructible_v<T>) requires std::copy_constructible<T>
      : ok_(other.ok_) {
    if (ok_)
      ::new (&value_) T(other.value_);
    else
      error_ = other.error_;
  }
  Result& operator=(Result other) noexcept {
    clear();
    ok_ = other.ok_;
    take(std::move(other));
    return *this;
  }
  ~Result() { clear(); }

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  explicit operator bool() const noexcept { return ok_; }

  // Panics if this is a failure.
  T& value() & noexcept { return check(), value_; }
  const T& value() const& noexcept { return check(), value_; }
  T&& value() && noexcept { return check(), std::move(value_); }

  // {0, JANUS_KIND_SUCCESS} if this is a success.
  [[nodiscard]] Error error() const noexcept { return ok_ ? Error{0, JANUS_KIND_SUCCESS} : error_; }

  template <class U>
  [[nodiscard]] T value_or(U&& other) && noexcept {
    return ok_ ? std::move(value_) : static_cast<T>(std::forward<U>(other));
  }
  template <class U>
  [[nodiscard]] T value_or(U&& other) const& noexcept {
    return ok_ ? value_ : static_cast<T>(std::forward<U>(other));
  }

 private:
  void check() const noexcept {
    if (!ok_) janus_task_panic("value() of a failed janus::Result");
  }
  void clear() noexcept {
    if (ok_) value_.~T();
  }
  void take(Result&& other) noexcept {
    if (ok_)
      ::new (&value_) T(std::move(other.value_));
    else
      error_ = other.error_;
  }

  bool ok_;
  union {
    T value_;
    Error error_;
  };
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() noexcept = default;
  Result(Error error) noexcept : ok_(false), error_(error) {}
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  explicit operator bool() const noexcept { return ok_; }
  void value() const noexcept {
    if (!ok_) janus_task_panic("value() of a failed janus::Result");
  }
  [[nodiscard]] Error error() const noexcept { return error_; }

 private:
  bool ok_ = true;
  Error error_{0, JANUS_KIND_SUCCESS};
};

namespace detail {

inline Result<void> result_of(int code) noexcept {
  if (code < 0) return error_of(code);
  return {};
}

}  // namespace detail

}  // namespace v1
}  // namespace janus

#endif  // JANUS_RT_RESULT_HPP
