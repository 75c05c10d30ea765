// SPDX-License-Identifier: Apache-2.0
// janus/rt/sort.hpp: parallel_sort. A part of janus/rt.hpp. docs/decisions/0327
//
// Quicksort with the branchless partition of Edelkamp and Weiss (BlockQuicksort, 2016), and Peters' treatment of equal
// elements (pattern-defeating quicksort, 2021); heapsort below a depth that only bad pivots reach. In place, in
// O(n log n) comparisons. Of more than 4,096 elements the two sides of a pivot are the halves of a fork_join; fewer are
// sorted by one task.
#ifndef JANUS_RT_SORT_HPP
#define JANUS_RT_SORT_HPP

#include <janus/rt/parallel.hpp>

namespace janus {
inline namespace v1 {

namespace detail {

template <class I, class Less>
class Sorter {
 public:
  explicit Sorter(Less& less) noexcept : less_(less) {}

  // `is_first`: no element stands before `first`; else that one is not greater than any of these.
  Result<void> run(I first, std::ptrdiff_t count, unsigned depth, bool is_first) noexcept {
    while (count > kFew) {
      if (!pay(1)) return error_of(JANUS_CANCELLED);
      if (depth-- == 0) return sort_heap(first, count);
      move_pivot_to(first, count);
      // Everything here that equals the pivot before is in its place.
      if (!is_first && !less_(*(first + -1), *first)) {
        const std::ptrdiff_t at = partition_equal(first, count);
        if (at < 0) return error_of(JANUS_CANCELLED);
        first = first + (at + 1);
        count -= at + 1;
        continue;
      }
      const std::ptrdiff_t at = partition(first, count);
      if (at < 0) return error_of(JANUS_CANCELLED);
      const I second = first + (at + 1);
      const std::ptrdiff_t after = count - at - 1;
      if (count > kAlone) {
        auto [left, right] = fork_join([&] { return run(first, at, depth, is_first); },
                                       [&] { return run(second, after, depth, false); });
        return left.ok() ? right : left;
      }
      if (Result<void> left = run(first, at, depth, is_first); !left.ok()) return left;
      first = second;
      count = after;
      is_first = false;
    }
    sort_few(first, count);
    return {};
  }

  // Whether there is nothing to do.
  bool is_sorted(I first, std::ptrdiff_t count) noexcept {
    for (std::ptrdiff_t n = 1; n < count; ++n) {
      if (n % kAtOnce == 0 && !pay(kAtOnce)) return false;
      if (less_(*(first + n), *(first + (n - 1)))) return false;
    }
    return true;
  }

 private:
  using T = std::remove_cvref_t<decltype(*std::declval<I>())>;

  static constexpr std::ptrdiff_t kFew = 24;      // sorted by insertion
  static constexpr std::ptrdiff_t kMany = 128;    // from here on the pivot is a median of nine
  static constexpr std::ptrdiff_t kAlone = 4096;  // sorted by one task
  static constexpr std::ptrdiff_t kBlock = 64;    // elements that are compared before any is moved
  static constexpr std::ptrdiff_t kUnrolled = 8;

  static void swap(I a, I b) noexcept {
    T moved(std::move(*a));
    *a = std::move(*b);
    *b = std::move(moved);
  }

  void sort_few(I first, std::ptrdiff_t count) noexcept {
    for (std::ptrdiff_t n = 1; n < count; ++n) {
      std::ptrdiff_t at = n;
      if (!less_(*(first + at), *(first + (at - 1)))) continue;
      T moved(std::move(*(first + at)));
      do {
        *(first + at) = std::move(*(first + (at - 1)));
        --at;
      } while (at > 0 && less_(moved, *(first + (at - 1))));
      *(first + at) = std::move(moved);
    }
  }

  void sift(I first, std::ptrdiff_t count, std::ptrdiff_t at) noexcept {
    for (;;) {
      std::ptrdiff_t child = 2 * at + 1;
      if (child >= count) return;
      if (child + 1 < count && less_(*(first + child), *(first + (child + 1)))) ++child;
      if (!less_(*(first + at), *(first + child))) return;
      swap(first + at, first + child);
      at = child;
    }
  }
  [[gnu::cold, gnu::noinline]] Result<void> sort_heap(I first, std::ptrdiff_t count) noexcept {
    for (std::ptrdiff_t n = count / 2; n > 0; --n) {
      if (!pay(1)) return error_of(JANUS_CANCELLED);
      sift(first, count, n - 1);
    }
    for (std::ptrdiff_t n = count - 1; n > 0; --n) {
      if (!pay(1)) return error_of(JANUS_CANCELLED);
      swap(first, first + n);
      sift(first, n, 0);
    }
    return {};
  }

  // Puts the median of three at `b`.
  void sort_three(I a, I b, I c) noexcept {
    if (less_(*b, *a)) swap(a, b);
    if (!less_(*c, *b)) return;
    swap(b, c);
    if (less_(*b, *a)) swap(a, b);
  }
  void move_pivot_to(I first, std::ptrdiff_t count) noexcept {
    const std::ptrdiff_t half = count / 2;
    const I middle = first + half, last = first + (count - 1);
    if (count < kMany) return sort_three(middle, first, last);
    sort_three(first, middle, last);
    sort_three(first + 1, middle + -1, last + -1);
    sort_three(first + 2, middle + 1, last + -2);
    sort_three(middle + -1, middle, middle + 1);
    swap(first, middle);
  }

  // Partitions by *first, the pivot: what is less goes before it. Returns its new index; -1: the task was cancelled, and
  // the elements are in any order.
  std::ptrdiff_t partition(I first, std::ptrdiff_t count) noexcept {
    T pivot(std::move(*first));
    std::ptrdiff_t low = 1, high = count;  // what is not compared yet
    unsigned char lefts[kBlock], rights[kBlock];
    std::ptrdiff_t left_base = low, right_base = high;
    std::size_t left_begin = 0, left_count = 0, right_begin = 0, right_count = 0;
    while (low < high) {
      if (!pay(kBlock)) return *first = std::move(pivot), -1;
      const std::ptrdiff_t unknown = high - low;
      std::ptrdiff_t left = left_count != 0 ? 0 : right_count != 0 ? unknown : unknown / 2;
      std::ptrdiff_t right = right_count != 0 ? 0 : unknown - left;
      if (left > kBlock) left = kBlock;
      if (right > kBlock) right = kBlock;
      left_count += note_left(first + low, left, pivot, lefts + left_count);
      low += left;
      right_count += note_right(first + high, right, pivot, rights + right_count);
      high -= right;
      const std::size_t both = left_count < right_count ? left_count : right_count;
      exchange(first + left_base, first + right_base, lefts + left_begin, rights + right_begin, both);
      left_count -= both;
      right_count -= both;
      left_begin = left_count != 0 ? left_begin + both : 0;
      right_begin = right_count != 0 ? right_begin + both : 0;
      if (left_count == 0) left_base = low;
      if (right_count == 0) right_base = high;
    }
    // Those that found no partner, the outermost last.
    while (left_count != 0) swap(first + (left_base + lefts[left_begin + --left_count]), first + --high);
    if (high < low) low = high;
    while (right_count != 0) swap(first + (right_base - rights[right_begin + --right_count]), first + low++);
    *first = std::move(*(first + (low - 1)));
    *(first + (low - 1)) = std::move(pivot);
    return low - 1;
  }

  // Note which of `count` elements have to leave their side, and return how many; without branches. `count` is kBlock
  // nearly always, and a multiple of kUnrolled then.
  std::size_t note_left(I at, std::ptrdiff_t count, const T& pivot, unsigned char* out) noexcept {
    std::size_t found = 0;
    const auto look = [&](std::ptrdiff_t n) {
      out[found] = static_cast<unsigned char>(n);
      found += !less_(*(at + n), pivot);
    };
    std::ptrdiff_t n = 0;
    for (; n + kUnrolled <= count; n += kUnrolled) {
      look(n), look(n + 1), look(n + 2), look(n + 3);
      look(n + 4), look(n + 5), look(n + 6), look(n + 7);
    }
    for (; n < count; ++n) look(n);
    return found;
  }
  std::size_t note_right(I end, std::ptrdiff_t count, const T& pivot, unsigned char* out) noexcept {
    std::size_t found = 0;
    const auto look = [&](std::ptrdiff_t n) {
      out[found] = static_cast<unsigned char>(n);
      found += static_cast<bool>(less_(*(end + -n), pivot));
    };
    std::ptrdiff_t n = 1;
    for (; n + kUnrolled <= count + 1; n += kUnrolled) {
      look(n), look(n + 1), look(n + 2), look(n + 3);
      look(n + 4), look(n + 5), look(n + 6), look(n + 7);
    }
    for (; n <= count; ++n) look(n);
    return found;
  }

  // Exchanges `count` elements of the left block with as many of the right one, as a cycle: a move less for each.
  static void exchange(I left, I right, const unsigned char* lefts, const unsigned char* rights,
                       std::size_t count) noexcept {
    if (count == 0) return;
    T moved(std::move(*(left + lefts[0])));
    *(left + lefts[0]) = std::move(*(right + -static_cast<std::ptrdiff_t>(rights[0])));
    for (std::size_t n = 1; n < count; ++n) {
      *(right + -static_cast<std::ptrdiff_t>(rights[n - 1])) = std::move(*(left + lefts[n]));
      *(left + lefts[n]) = std::move(*(right + -static_cast<std::ptrdiff_t>(rights[n])));
    }
    *(right + -static_cast<std::ptrdiff_t>(rights[count - 1])) = std::move(moved);
  }

  // No element is less than *first: puts those that equal it in front. Returns the index of the last of them, or -1.
  std::ptrdiff_t partition_equal(I first, std::ptrdiff_t count) noexcept {
    T pivot(std::move(*first));
    std::ptrdiff_t equal = 1;
    for (std::ptrdiff_t n = 1; n < count; ++n) {
      if (n % kAtOnce == 0 && !pay(kAtOnce)) return *first = std::move(pivot), -1;
      if (!less_(pivot, *(first + n))) swap(first + n, first + equal++);
    }
    *first = std::move(pivot);
    return equal - 1;
  }

  Less& less_;
};

}  // namespace detail

// Sorts the range in place, by `less`, or by `<`; equal elements come in any order. Elements are moved, without throwing.
// `less` is a strict weak ordering, and is called by several tasks at the same time; any other gives any order. Costs
// an op for some kElementsPerOp comparisons. If `less` panics, or the caller is cancelled (JANUS_CANCELLED), the elements
// are in any order; after a panic one of them may have been left moved-from. But the caller itself looks whether the
// range is sorted, parts it for the first time, and sorts up to 4,096 elements: a panic there ends the caller. Tasks
// only, as parallel_for.
template <class R, class Less>
Result<void> parallel_sort(R&& range, Less&& less) noexcept {
  detail::check_range<R>();
  if constexpr (detail::RandomAccess<R>) {
    using I = detail::IteratorOf<R>;
    using T = std::remove_cvref_t<detail::ElementOf<R>>;
    static_assert(std::is_same_v<detail::ElementOf<R>, T&>, "janus: parallel_sort needs elements that can be changed");
    constexpr bool kCompares = std::is_invocable_r_v<bool, Less&, const T&, const T&>;
    static_assert(kCompares, "janus: parallel_sort: the comparison takes two elements and returns a bool");
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>,
                  "janus: parallel_sort moves elements, which must be noexcept");
    if constexpr (kCompares && std::is_same_v<detail::ElementOf<R>, T&>) {
      const I first = detail::begin_of(range);
      const std::ptrdiff_t count = detail::end_of(range) - first;
      detail::Sorter<I, std::remove_reference_t<Less>> sorter(less);
      if (count < 2 || sorter.is_sorted(first, count)) return {};
      unsigned depth = 0;
      for (std::ptrdiff_t n = count; n > 1; n /= 2) depth += 2;
      return sorter.run(first, count, depth, true);
    }
  }
}
template <class R>
Result<void> parallel_sort(R&& range) noexcept {
  return parallel_sort(
      std::forward<R>(range), [](const auto& a, const auto& b) requires requires { a < b; } { return a < b; });
}

}  // namespace v1
}  // namespace janus

#endif  // JANUS_RT_SORT_HPP
