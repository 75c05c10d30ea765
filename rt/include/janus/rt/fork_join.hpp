// SPDX-License-Identifier: Apache-2.0
// janus/rt/fork_join.hpp: fork_join: closures that run at the same time, in the caller's frame. A part of
// janus/rt.hpp. docs/decisions/0327
#ifndef JANUS_RT_FORK_JOIN_HPP
#define JANUS_RT_FORK_JOIN_HPP

#include <janus/rt/closure.hpp>

#include <tuple>

namespace janus {
inline namespace v1 {

namespace detail {

template <class F>
constexpr void check_half() {
  static_assert(std::is_invocable_v<F>, "janus: fork_join calls a closure without arguments; capture what it needs");
  if constexpr (std::is_invocable_v<F>) {
    using T = typename Unwrap<std::invoke_result_t<F>>::Type;
    if constexpr (!std::is_void_v<T>) check_value<T>();
  }
}

template <class F>
using ResultOf = Result<typename Unwrap<std::invoke_result_t<F>>::Type>;

// The result of a half that has not returned.
template <class F>
inline constexpr Error kNotReturned = {JANUS_PENDING, JANUS_KIND_PENDING};

template <class T>
bool has_returned(const Result<T>& result) noexcept {
  return result.error().kind != JANUS_KIND_PENDING;
}

// `how`: of janus_fork_join.
inline Error error_of(const janus_result& how) noexcept {
  return how.kind == JANUS_KIND_PENDING ? error_of(how.code) : Error{how.code, how.kind};
}

// A closure and the place for its result, both in the frame that calls fork_join.
template <class F>
struct Half {
  F&& closure;
  ResultOf<F>& result;

  std::int64_t run() noexcept {
    using T = typename Unwrap<std::invoke_result_t<F>>::Type;
    // So far `result` is an error, which needs no destructor.
    return code_of(*::new (static_cast<void*>(&result)) ResultOf<F>(call<T>(std::forward<F>(closure))));
  }
  // Called if the half failed. It may have returned a value all the same, and a nursery that it left open failed.
  void fail(const janus_result& how) noexcept {
    if (result.ok() || !has_returned(result)) result = ResultOf<F>(error_of(how));
  }
};

// All halves but the first, as one.
template <class... Halves>
struct Rest {
  std::tuple<Halves&...> halves;

  std::int64_t run() noexcept;
  void fail(const janus_result& how) noexcept {
    const auto fail_one = [&](auto& half) {
      if (!has_returned(half.result)) half.fail(how);
    };
    std::apply([&](auto&... half) { (fail_one(half), ...); }, halves);
  }
};

template <class H>
std::int64_t run_half(void* half) noexcept {
  return static_cast<H*>(half)->run();
}

template <class Own, class Other>
[[gnu::cold, gnu::noinline]] void fail_halves(Own& own, Other& other, const janus_result* how) noexcept {
  if (how[0].kind != JANUS_KIND_SUCCESS) own.fail(how[0]);
  if (how[1].kind != JANUS_KIND_SUCCESS) other.fail(how[1]);
}

template <class Own, class Other>
void fork(Own& own, Other& other) noexcept {
  janus_result how[2];
  if (janus_fork_join(run_half<Own>, &own, run_half<Other>, &other, how) != 0) [[unlikely]]
    fail_halves(own, other, how);
}
template <class Own, class Second, class Third, class... More>
void fork(Own& own, Second& second, Third& third, More&... more) noexcept {
  Rest<Second, Third, More...> rest{{second, third, more...}};
  fork(own, rest);
}

template <class... Halves>
std::int64_t Rest<Halves...>::run() noexcept {
  std::apply([](auto&... half) { fork(half...); }, halves);
  return 0;
}

// `results` is built in the caller's frame.
template <class... F>
std::tuple<ResultOf<F>...> fork_all(F&&... closures) noexcept {
  std::tuple<ResultOf<F>...> results(kNotReturned<F>...);
  std::apply(
      [&](auto&... result) {
        const auto fork_each = [](auto... half) { fork(half...); };
        fork_each(Half<F>{std::forward<F>(closures), result}...);
      },
      results);
  return results;
}

}  // namespace detail

// Calls the closures at the same time and returns their results, in order, once all have ended: a std::tuple of a
// Result<T> for each, where the closure returns T or Result<T>. The closures stay where they are: in the caller's frame.
//
// The first is called by the calling task, as part of it (its id, its task-local values); each other one is a task that
// another worker may run. A call costs 1 op for each closure but the first, and below a budget also 1 spawn_count and
// the memory of a task and a nursery. A closure that panics, overflows its stack or uses up its budget ends alone, and
// its result is the failure; what is on its stack is not destroyed. A failure does not cancel the other closures. If
// the caller is cancelled, all are. If memory or budget do not reach, closures do not run, and their result is the
// error (JANUS_E_NO_MEMORY, JANUS_E_BUDGET). Tasks only: elsewhere none runs (JANUS_E_NO_TASK).
template <class... F>
[[nodiscard]] auto fork_join(F&&... closures) noexcept {
  static_assert(sizeof...(F) >= 2, "janus: fork_join takes two closures or more");
  (detail::check_half<F>(), ...);
  if constexpr (sizeof...(F) >= 2 && (std::is_invocable_v<F> && ...))
    return detail::fork_all(std::forward<F>(closures)...);
}

}  // namespace v1
}  // namespace janus

#endif  // JANUS_RT_FORK_JOIN_HPP
