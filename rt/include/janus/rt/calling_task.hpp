// SPDX-License-Identifier: Apache-2.0
// janus/rt/calling_task.hpp: functions for the calling task: yield, check for a cancel, sleep, pin; durations, those of <chrono>,
// too. A part of janus/rt.hpp.
#ifndef JANUS_RT_CALLING_TASK_HPP
#define JANUS_RT_CALLING_TASK_HPP

#include <janus/rt/result.hpp>

#include <type_traits>

namespace janus {
inline namespace v1 {

struct Duration {
  std::uint64_t ns;
  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) noexcept { return {a.ns + b.ns}; }
  friend constexpr Duration operator*(Duration a, std::uint64_t n) noexcept { return {a.ns * n}; }
};

namespace detail {
void a_duration_of_more_than_584_years();  // not constexpr, so a literal that calls it does not compile

consteval Duration duration(unsigned long long count, std::uint64_t unit_ns) {
  if (count > UINT64_MAX / unit_ns) a_duration_of_more_than_584_years();
  return {count * unit_ns};
}
}  // namespace detail

inline namespace literals {
consteval Duration operator""_ns(unsigned long long n) {
  return detail::duration(n, 1);
}
consteval Duration operator""_us(unsigned long long n) {
  return detail::duration(n, 1000);
}
consteval Duration operator""_ms(unsigned long long n) {
  return detail::duration(n, 1000000);
}
consteval Duration operator""_s(unsigned long long n) {
  return detail::duration(n, 1000000000);
}
}  // namespace literals

namespace detail {

// A std::chrono::duration, or a type like it, so that <chrono> is not needed here.
template <class D>
concept ChronoDuration = requires(const D& duration) {
  typename D::rep;
  D::period::num;
  D::period::den;
  { duration.count() } -> std::convertible_to<typename D::rep>;
};

constexpr std::uint64_t common_divisor(std::uint64_t a, std::uint64_t b) noexcept {
  return b == 0 ? a : common_divisor(b, a % b);
}

// In whole nanoseconds, rounded up, since a time never passes early. A negative one is 0; one that does not fit, and a
// floating-point one that is no number, is UINT64_MAX.
template <ChronoDuration D>
constexpr Duration duration_of(const D& duration) noexcept {
  using Rep = typename D::rep;
  constexpr auto kNum = static_cast<std::uint64_t>(D::period::num), kDen = static_cast<std::uint64_t>(D::period::den);
  const Rep count = duration.count();
  if (count < Rep{0}) return {0};
  if constexpr (std::is_floating_point_v<Rep>) {
    constexpr double kUnit = static_cast<double>(kNum) / static_cast<double>(kDen) * 1e9;
    if (!(static_cast<double>(count) < 0x1p63 / kUnit)) return {UINT64_MAX};
    const double ns = static_cast<double>(count) * kUnit;
    const auto whole = static_cast<std::uint64_t>(ns);
    return {whole + (static_cast<double>(whole) < ns ? 1u : 0u)};
  } else {
    // The count times factor / kRest: in parts, as there may be no division of 128 bits.
    constexpr std::uint64_t kCommon = common_divisor(1'000'000'000, kDen);
    constexpr std::uint64_t kRest = kDen / kCommon;
    std::uint64_t factor = 0, ns = 0, rest = 0;
    const auto units = static_cast<std::uint64_t>(count);
    if (__builtin_mul_overflow(kNum, 1'000'000'000 / kCommon, &factor) ||
        __builtin_mul_overflow(units / kRest, factor, &ns) || __builtin_mul_overflow(units % kRest, factor, &rest) ||
        __builtin_add_overflow(ns, rest / kRest + (rest % kRest != 0 ? 1 : 0), &ns))
      return {units != 0 ? UINT64_MAX : 0};
    return {ns};
  }
}

}  // namespace detail

// A time for deadline_ns and the forms _until: that long from now.
inline std::uint64_t deadline_in(Duration duration) noexcept {
  const std::uint64_t now = janus_now_ns();
  return duration.ns < UINT64_MAX - now ? now + duration.ns : UINT64_MAX;
}
template <detail::ChronoDuration D>
std::uint64_t deadline_in(const D& duration) noexcept {
  return deadline_in(detail::duration_of(duration));
}

// ---- The calling task ----------------------------------------------------------------------------------------------

inline Result<void> sleep(Duration duration) noexcept {
  return detail::result_of(janus_sleep_ns(duration.ns));
}
template <detail::ChronoDuration D>
Result<void> sleep(const D& duration) noexcept {
  return sleep(detail::duration_of(duration));
}
inline Result<void> yield() noexcept {
  return detail::result_of(janus_yield());
}
[[nodiscard]] inline bool cancelled() noexcept {
  return janus_cancelled() > 0;
}

// Keeps the calling task on its worker's thread until the end of the block (janus_task_pin).
class [[nodiscard]] Pin {
 public:
  Pin() noexcept : answer_(janus_task_pin()) {}
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;
  ~Pin() {
    if (answer_ == 0) (void)janus_task_unpin();
  }

  // Whether the task is pinned.
  explicit operator bool() const noexcept { return answer_ == 0; }
  [[nodiscard]] Error error() const noexcept { return detail::error_of(answer_); }

 private:
  int answer_;
};

}  // namespace v1
}  // namespace janus

#endif  // JANUS_RT_CALLING_TASK_HPP
