// SPDX-License-Identifier: Apache-2.0
// janus/rt/parallel.hpp: loops, reductions and sorting over ranges, in the caller's frame. A part of janus/rt.hpp.
// docs/decisions/0327
//
// A range has random access: begin() and end(), or it is an array; the iterators need `+`, `-`, `*` and `++`. It must
// live until the call returns, which is when all of its pieces have ended.
//
// A range is halved by fork_join until the pieces are no larger than a grain, a number of elements. kElementsPerOp
// elements cost 1 op, besides what the closure spends. Without a grain, a piece is a 64th of the range and at most
// kOpsOfAPiece ops, so where a range is split depends neither on time nor on the number of workers.
#ifndef JANUS_RT_PARALLEL_HPP
#define JANUS_RT_PARALLEL_HPP

#include <janus/rt/fork_join.hpp>

namespace janus {
inline namespace v1 {

inline constexpr std::ptrdiff_t kElementsPerOp = 64;
inline constexpr std::ptrdiff_t kOpsOfAPiece = 4096;

// The numbers from `first` to `last`, without `last`, as a range: parallel_for(Numbers{0, n}, [&](auto i) { ... }).
class Numbers {
 public:
  class Iterator {
   public:
    constexpr explicit Iterator(std::ptrdiff_t number) noexcept : number_(number) {}
    constexpr std::ptrdiff_t operator*() const noexcept { return number_; }
    constexpr Iterator& operator++() noexcept { return ++number_, *this; }
    friend constexpr Iterator operator+(Iterator at, std::ptrdiff_t n) noexcept { return Iterator(at.number_ + n); }
    friend constexpr std::ptrdiff_t operator-(Iterator a, Iterator b) noexcept { return a.number_ - b.number_; }

   private:
    std::ptrdiff_t number_;
  };

  constexpr Numbers(std::ptrdiff_t first, std::ptrdiff_t last) noexcept : first_(first), last_(last) {}
  constexpr Iterator begin() const noexcept { return Iterator(first_); }
  constexpr Iterator end() const noexcept { return Iterator(last_ < first_ ? first_ : last_); }

 private:
  std::ptrdiff_t first_, last_;
};

namespace detail {

template <class T, std::size_t N>
constexpr T* begin_of(T (&array)[N]) noexcept {
  return array;
}
template <class T, std::size_t N>
constexpr T* end_of(T (&array)[N]) noexcept {
  return array + N;
}
template <class R>
constexpr auto begin_of(R& range) noexcept -> decltype(range.begin()) {
  return range.begin();
}
template <class R>
constexpr auto end_of(R& range) noexcept -> decltype(range.end()) {
  return range.end();
}

template <class R>
concept RandomAccess = requires(std::remove_reference_t<R>& range) {
  { end_of(range) - begin_of(range) } -> std::convertible_to<std::ptrdiff_t>;
  {
    begin_of(range) + std::ptrdiff_t {
      1
    }
    } -> std::same_as<decltype(begin_of(range))>;
  *begin_of(range);
};

template <class R>
constexpr void check_range() {
  static_assert(RandomAccess<R>,
                "janus: the range needs random access: begin() and end() with +, - and *, or an array");
}

template <class R>
using IteratorOf = decltype(begin_of(std::declval<std::remove_reference_t<R>&>()));
template <class R>
using ElementOf = decltype(*std::declval<IteratorOf<R>>());

constexpr std::ptrdiff_t usual_grain(std::ptrdiff_t count) noexcept {
  constexpr std::ptrdiff_t kMost = kOpsOfAPiece * kElementsPerOp;
  const std::ptrdiff_t part = count / 64;
  return part < 1 ? 1 : part < kMost ? part : kMost;
}

// Charges `count` elements, a few at once. False: the task was cancelled.
inline bool pay(std::ptrdiff_t count) noexcept {
  return janus_yield_check(static_cast<std::uint32_t>((count + kElementsPerOp - 1) / kElementsPerOp)) == 0;
}
// Elements between two checks.
inline constexpr std::ptrdiff_t kAtOnce = 16 * kElementsPerOp;
constexpr std::ptrdiff_t at_once(std::ptrdiff_t count) noexcept {
  return count < kAtOnce ? count : kAtOnce;
}

// What the pieces of a loop share.
template <class I, class F>
struct Loop {
  F& body;
  const std::ptrdiff_t grain;
  bool is_over = false;  // a piece has failed: those that have not begun do not begin

  Result<void> run(I first, std::ptrdiff_t count) noexcept {
    if (__atomic_load_n(&is_over, __ATOMIC_RELAXED)) return {};
    if (count <= grain) return run_piece(first, count);
    const std::ptrdiff_t half = count / 2;
    auto [left, right] = fork_join([&] { return run(first, half); }, [&] { return run(first + half, count - half); });
    if (left.ok() && right.ok()) [[likely]]
      return left;
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    return left.ok() ? right : left;
  }

  Result<void> run_piece(I at, std::ptrdiff_t count) noexcept {
    while (count > 0) {
      std::ptrdiff_t n = at_once(count);
      if (!pay(n)) return error_of(JANUS_CANCELLED);
      count -= n;
      for (; n > 0; --n, ++at) {
        if constexpr (is_result<std::invoke_result_t<F&, decltype(*at)>>) {
          if (Result<void> result = body(*at); !result.ok()) [[unlikely]] {
            __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
            return result;
          }
        } else {
          body(*at);
        }
      }
    }
    return {};
  }
};

// What the pieces of a reduction share.
template <class T, class I, class F, class C>
struct Reduction {
  F& map;
  C& combine;
  const std::ptrdiff_t grain;

  // Of one element or more.
  Result<T> run(I first, std::ptrdiff_t count) noexcept {
    if (count <= grain) return run_piece(first, count);
    const std::ptrdiff_t half = count / 2;
    auto [left, right] = fork_join([&] { return run(first, half); }, [&] { return run(first + half, count - half); });
    if (!left.ok()) return std::move(left);
    if (!right.ok()) return std::move(right);
    return T(combine(std::move(left).value(), std::move(right).value()));
  }

  Result<T> run_piece(I at, std::ptrdiff_t count) noexcept {
    if (!pay(1)) return error_of(JANUS_CANCELLED);
    T sum(map(*at));
    ++at;
    --count;
    while (count > 0) {
      std::ptrdiff_t n = at_once(count);
      if (!pay(n)) return error_of(JANUS_CANCELLED);
      count -= n;
      for (; n > 0; --n, ++at) sum = combine(std::move(sum), T(map(*at)));
    }
    return sum;
  }
};

}  // namespace detail

// Calls body(element) for each element of the range, with at most `grain` elements in turn, which is at least 1. Returns
// once all calls have ended. `body` is called by several tasks at the same time; it returns nothing, or a Result<void>.
// A call that fails, by its result or by a panic, ends its piece; pieces that have not begun do not begin (after a
// panic, the other half of the fork_join that has the piece still does), and the result is the failure that is nearest
// to the beginning of the range. If the range is one piece, the caller itself runs it, and a panic ends the caller.
// JANUS_CANCELLED: the caller was cancelled; some elements were left out. Tasks only (JANUS_E_NO_TASK, unless the range is
// one piece, which faults).
template <class R, class F>
Result<void> parallel_for(R&& range, std::ptrdiff_t grain, F&& body) noexcept {
  detail::check_range<R>();
  if constexpr (detail::RandomAccess<R>) {
    static_assert(std::is_invocable_v<F&, detail::ElementOf<R>>, "janus: the body of parallel_for takes an element");
    if constexpr (std::is_invocable_v<F&, detail::ElementOf<R>>) {
      using Returned = std::invoke_result_t<F&, detail::ElementOf<R>>;
      static_assert(std::is_void_v<Returned> || std::is_same_v<Returned, Result<void>>,
                    "janus: the body of parallel_for returns nothing, or a Result<void>");
      using Loop = detail::Loop<detail::IteratorOf<R>, std::remove_reference_t<F>>;
      return Loop{body, grain < 1 ? 1 : grain}.run(detail::begin_of(range),
                                                   detail::end_of(range) - detail::begin_of(range));
    }
  }
}
template <class R, class F>
Result<void> parallel_for(R&& range, F&& body) noexcept {
  detail::check_range<R>();
  if constexpr (detail::RandomAccess<R>)
    return parallel_for(range, detail::usual_grain(detail::end_of(range) - detail::begin_of(range)),
                        std::forward<F>(body));
}

// Combines `init` and map(element) of each element, in the order of the range: combine(combine(init, a), combine(b, c))
// and the like. `combine` must be associative, and need not be commutative; it takes and returns T, the type of `init`.
// `map` and `combine` are called by several tasks at the same time. The result is a failure if one of them panics, or
// if the caller is cancelled (JANUS_CANCELLED). But the caller itself combines the halves of the whole range and `init`,
// and maps a range of one element: a panic there ends the caller. Tasks only, as parallel_for.
template <class R, class T, class F, class C>
Result<T> parallel_reduce(R&& range, T init, F&& map, C&& combine) noexcept {
  detail::check_range<R>();
  detail::check_value<T>();
  static_assert(std::is_nothrow_move_assignable_v<T>, "janus: parallel_reduce moves values, which must be noexcept");
  if constexpr (detail::RandomAccess<R>) {
    constexpr bool kMaps = std::is_invocable_r_v<T, F&, detail::ElementOf<R>>;
    constexpr bool kCombines = std::is_invocable_r_v<T, C&, T, T>;
    static_assert(kMaps, "janus: parallel_reduce: the third argument takes an element and returns a T");
    static_assert(kCombines, "janus: parallel_reduce: the last argument takes two T and returns a T");
    if constexpr (kMaps && kCombines) {
      const auto first = detail::begin_of(range);
      const std::ptrdiff_t count = detail::end_of(range) - first;
      if (count <= 0) return init;
      using Reduction =
          detail::Reduction<T, detail::IteratorOf<R>, std::remove_reference_t<F>, std::remove_reference_t<C>>;
      Result<T> rest = Reduction{map, combine, detail::usual_grain(count)}.run(first, count);
      if (!rest.ok()) return rest;
      return T(combine(std::move(init), std::move(rest).value()));
    }
  }
}

}  // namespace v1
}  // namespace janus

#endif  // JANUS_RT_PARALLEL_HPP
