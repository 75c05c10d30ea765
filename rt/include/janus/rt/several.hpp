// SPDX-License-Identifier: Apache-2.0
// janus/rt/several.hpp: several closures as child tasks, until enough of them have ended: all, any, race, quorum. A part of
// janus/rt.hpp.
//
//     auto both = janus::all([&] { return user(id); }, [&] { return orders(id); });   // Result<std::tuple<User, Orders>>
//     auto page = janus::any([&] { return fetch(here); }, [&] { return fetch(there); });       // the first that is a value
//     auto most = janus::quorum(2, [&] { return ask(0); }, [&] { return ask(1); }, [&] { return ask(2); });
//
// Those that are not needed any more are cancelled, with all that they spawned, and each call returns when all have ended: so
// closures may capture what is on the caller's stack. With a time for all of it: janus::timeout(50_ms, [&] { return
// janus::any(...); }). JANUS_CANCELLED: the caller is cancelled.
#ifndef JANUS_RT_SEVERAL_HPP
#define JANUS_RT_SEVERAL_HPP

#include <janus/rt/calling_task.hpp>
#include <janus/rt/nursery.hpp>

#include <tuple>

namespace janus {
inline namespace v1 {

// The value of a closure of all() that returns nothing.
struct Nothing {};

// Of closures that all return a T, or Result<T>: what each returned, or its error, in their order.
template <class T, std::size_t N>
struct Outcomes {
  Result<T> results[N];
  std::size_t values;  // how many of them are values

  Result<T>& operator[](std::size_t i) noexcept { return results[i]; }
  static constexpr std::size_t size() noexcept { return N; }
};

namespace detail {

template <class T>
using SomethingOf = std::conditional_t<std::is_void_v<T>, Nothing, T>;

template <class F, class... More>
constexpr void check_same() {
  static_assert((std::is_same_v<ValueOf<F>, ValueOf<More>> && ...),
                "janus: the closures of any, race and quorum return the same type, or a Result of it");
}

template <class T>
SomethingOf<T> value_of(Result<T>& result) noexcept {
  if constexpr (std::is_void_v<T>)
    return {};
  else
    return std::move(result.value());
}

// Child tasks that are told as they end.
template <class T, std::size_t N>
struct Children {
  static constexpr std::size_t kCount = N;
  Nursery& nursery;
  Task<T> tasks[N];

  // Waits for the next one to end: its place; N: there is none, or the caller is cancelled, which `error` says.
  std::size_t next(janus_result& how, Error& error) noexcept {
    const int told = janus_nursery_next(nursery.raw(), &how, 0);
    if (told != 0) {
      if (told != JANUS_E_CLOSED) error = error_of(told);
      return N;
    }
    std::size_t i = 0;
    while (i < N && tasks[i].id() != how.task_id) ++i;
    return i;
  }
  // Why one was not spawned, if one was not.
  Error refusal() noexcept {
    Error error = error_of(JANUS_E_INVALID);
    for (Task<T>& task : tasks)
      if (!task) error = task.join().error();
    return error;
  }
  // Cancels those that have not ended, and waits for them.
  void end() noexcept {
    nursery.cancel();
    (void)nursery.await();
  }
};

// Starts the closures, and lets `decide(children)` choose.
template <class Decide, class F, class... More>
auto with_children(Decide decide, F&& first, More&&... more) noexcept {
  check_same<F, More...>();
  using T = ValueOf<F>;
  Nursery nursery({.on_error = OnError::kCollect});
  Children<T, 1 + sizeof...(More)> children{
      nursery, {nursery.spawn(std::forward<F>(first)), nursery.spawn(std::forward<More>(more))...}};
  return decide(children);
}

}  // namespace detail

// All values, as a tuple; Nothing for a closure without one. The first that fails cancels the others, and is the error.
template <class... F>
auto all(F&&... closures) noexcept {
  using Values = std::tuple<detail::SomethingOf<detail::ValueOf<F>>...>;
  Nursery nursery;
  if (!nursery) return Result<Values>(detail::last_error());
  std::tuple<Task<detail::ValueOf<F>>...> tasks{nursery.spawn(std::forward<F>(closures))...};
  const auto was_spawned = [](const auto&... task) { return (static_cast<bool>(task) && ...); };
  const bool are_all = std::apply(was_spawned, tasks);
  if (!are_all) nursery.cancel();
  const Result<void> ended = nursery.await();
  return std::apply(
      [&](auto&... task) -> Result<Values> {
        return [&](auto... results) -> Result<Values> {
          if ((results.ok() && ...) && ended.ok()) return Values{detail::value_of(results)...};
          if (cancelled()) return detail::error_of(JANUS_CANCELLED);
          // A spawn is refused, too, once another has failed.
          if (!ended.ok() && ended.error().kind != JANUS_KIND_CANCELLED) return ended.error();
          Error error = ended.ok() ? Error{} : ended.error();
          const auto note = [&](const auto& result) {
            if (!result.ok() && result.error().kind == Error::kCall) error = result.error();
          };
          (note(results), ...);
          return error;
        }(task.join()...);
      },
      tasks);
}

// The first value. If all fail: the error of the one that failed last.
template <class F, class... More>
auto any(F&& first, More&&... more) noexcept {
  using Outcome = Result<detail::ValueOf<F>>;
  return detail::with_children(
      [](auto& children) {
        Error error = children.refusal();
        janus_result how = {};
        for (;;) {
          const std::size_t i = children.next(how, error);
          if (i == children.kCount) break;
          Outcome outcome = children.tasks[i].join();
          if (outcome.ok()) {
            children.end();
            return outcome;
          }
          error = outcome.error();
        }
        children.end();
        return Outcome(error);
      },
      std::forward<F>(first), std::forward<More>(more)...);
}

// The first to end: its value, or its error.
template <class F, class... More>
auto race(F&& first, More&&... more) noexcept {
  using Outcome = Result<detail::ValueOf<F>>;
  return detail::with_children(
      [](auto& children) {
        Error error = children.refusal();
        janus_result how = {};
        const std::size_t i = children.next(how, error);
        children.end();
        return i < children.kCount ? children.tasks[i].join() : Outcome(error);
      },
      std::forward<F>(first), std::forward<More>(more)...);
}

// Waits until `wanted` of them are values, or until so many have failed that they cannot be.
template <class F, class... More>
auto quorum(std::size_t wanted, F&& first, More&&... more) noexcept {
  using T = detail::ValueOf<F>;
  constexpr std::size_t kCount = 1 + sizeof...(More);
  return detail::with_children(
      [wanted](auto& children) {
        std::size_t values = 0, failures = 0;
        for (const auto& task : children.tasks)
          if (!task) ++failures;
        Error error = detail::error_of(JANUS_E_INVALID);
        janus_result how = {};
        while (values < wanted && failures + wanted <= kCount && children.next(how, error) != kCount)
          ++(how.kind == JANUS_KIND_SUCCESS ? values : failures);
        children.end();
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
          Outcomes<T, kCount> outcomes{{children.tasks[I].join()...}, 0};
          for (const Result<T>& result : outcomes.results) outcomes.values += result.ok() ? 1 : 0;
          return outcomes;
        }
        (std::make_index_sequence<kCount>{});
      },
      std::forward<F>(first), std::forward<More>(more)...);
}

}  // namespace v1
}  // namespace janus

#endif  // JANUS_RT_SEVERAL_HPP
