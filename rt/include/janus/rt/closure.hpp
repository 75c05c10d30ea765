// SPDX-License-Identifier: Apache-2.0
// janus/rt/closure.hpp: a closure as a task's function: its requirements, its call, and the block that it shares with
// its handle. A part of janus/rt.hpp. docs/decisions/0051
#ifndef JANUS_RT_CLOSURE_HPP
#define JANUS_RT_CLOSURE_HPP

#include <janus/rt/result.hpp>

namespace janus {
inline namespace v1 {

namespace detail {

// Result<T> -> T, everything else as it is.
template <class R>
struct Unwrap {
  using Type = R;
};
template <class T>
struct Unwrap<Result<T>> {
  using Type = T;
};

template <class F>
constexpr void check_closure() {
  static_assert(std::is_invocable_v<std::decay_t<F>>,
                "janus: a task's closure is called without arguments; capture what it needs");
  static_assert(std::is_constructible_v<std::decay_t<F>, F>,
                "janus: the closure cannot be stored; pass a move-only one with std::move");
  static_assert(std::is_nothrow_destructible_v<std::decay_t<F>>, "janus: destroying the closure must be noexcept");
  if constexpr (std::is_invocable_v<std::decay_t<F>>) {
    using R = std::invoke_result_t<std::decay_t<F>>;
    if constexpr (!std::is_void_v<typename Unwrap<R>::Type>) check_value<typename Unwrap<R>::Type>();
  }
}

template <class F>
using ValueOf = typename Unwrap<std::invoke_result_t<std::decay_t<F>>>::Type;

// Calls the closure once and converts its return value to a Result.
template <class T, class F>
Result<T> call(F&& closure) noexcept {
  if constexpr (is_result<std::invoke_result_t<F>>) {
    return std::forward<F>(closure)();
  } else if constexpr (std::is_void_v<T>) {
    std::forward<F>(closure)();
    return {};
  } else {
    return std::forward<F>(closure)();
  }
}

// The result as a task function's return value. A failure is always negative, even if its code is not.
template <class T>
std::int64_t code_of(const Result<T>& result) noexcept {
  if (result.ok()) return 0;
  const std::int64_t code = result.error().code;
  return code < 0 ? code : JANUS_E_INVALID;
}

// The result of one spawned closure, shared by the task and its handle; the last let_go() frees it.
//     kRunning --the closure has returned--> kEnded.  After a panic or a used-up budget it stays kRunning.
template <class T>
class Record {
 public:
  Record() noexcept {}
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  // Called by the task, once.
  void end(Result<T> result) noexcept {
    ::new (&result_) Result<T>(std::move(result));
    __atomic_store_n(&state_, kEnded, __ATOMIC_RELEASE);  // pairs with has_ended()
  }
  [[nodiscard]] bool has_ended() const noexcept { return __atomic_load_n(&state_, __ATOMIC_ACQUIRE) == kEnded; }

  // Called by the handle, after has_ended().
  Result<T> take() noexcept { return std::move(result_); }

  void let_go() noexcept {
    if (__atomic_sub_fetch(&owners_, 1, __ATOMIC_ACQ_REL) == 0) free();
  }
  // Frees the record for both owners, for a task that will never call let_go().
  void free() noexcept {
    if (has_ended()) result_.~Result<T>();
    this->~Record();
    janus_free(this);
  }

 protected:
  ~Record() {}

 private:
  enum : std::uint32_t { kRunning, kEnded };
  std::uint32_t owners_ = 2;
  std::uint32_t state_ = kRunning;
  union {
    Result<T> result_;
  };
};

// A record with its closure behind it: the `arg` of janus_nursery_spawn_in.
template <class T, class F>
class Job final : public Record<T> {
 public:
  template <class G>
  explicit Job(G&& closure) noexcept : closure_(std::forward<G>(closure)) {}
  ~Job() {}

  static std::int64_t run(void* arg) noexcept {
    Job* job = static_cast<Job*>(arg);
    // Tasks cancelled before their start run this, too (JANUS_SPAWN_RUN_CANCELLED), only for cleaning up.
    Result<T> result =
        janus_cancelled() ? Result<T>(error_of(JANUS_CANCELLED)) : call<T>(static_cast<F&&>(job->closure_));
    const std::int64_t code = code_of(result);
    job->destroy_closure();
    job->end(std::move(result));
    job->let_go();
    return code;
  }

  void destroy_closure() noexcept { closure_.~F(); }

 private:
  union {
    F closure_;
  };
};

}  // namespace detail

}  // namespace v1
}  // namespace janus

#endif  // JANUS_RT_CLOSURE_HPP
