// SPDX-License-Identifier: Apache-2.0
// janus/rt/blocking.hpp: a closure on a helper thread, for what holds its thread. A part of janus/rt.hpp.
// docs/decisions/0343
#ifndef JANUS_RT_BLOCKING_HPP
#define JANUS_RT_BLOCKING_HPP

#include <janus/rt/fork_join.hpp>

namespace janus {
inline namespace v1 {

// Calls the closure on a helper thread while the calling task waits and its worker goes on (janus_blocking). Its result,
// where the closure returns T or Result<T>, or why it was not called. The closure stays in the caller's frame. What it may
// call is said of janus_blocking. Tasks only: elsewhere it is not called (JANUS_E_NO_TASK).
template <class F>
[[nodiscard]] auto blocking(F&& closure) noexcept {
  static_assert(std::is_invocable_v<F>, "janus: blocking calls a closure without arguments; capture what it needs");
  if constexpr (std::is_invocable_v<F>) {
    using T = typename detail::Unwrap<std::invoke_result_t<F>>::Type;
    if constexpr (!std::is_void_v<T>) detail::check_value<T>();
    detail::ResultOf<F> result(detail::kNotReturned<F>);
    detail::Half<F> call{std::forward<F>(closure), result};
    const std::int64_t answer = janus_blocking(detail::run_half<detail::Half<F>>, &call);
    if (!detail::has_returned(result)) result = detail::ResultOf<F>(detail::error_of(answer));
    return result;
  }
}

}  // namespace v1
}  // namespace janus

#endif  // JANUS_RT_BLOCKING_HPP
