// SPDX-License-Identifier: Apache-2.0
// janus/rt/calling_task.hpp: functions for the calling task: yield, check for a cancel, sleep; durations, those of <chrono>,
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

// std::chrono::duration, whose header is not needed for that.
template <class D>
concept ChronoDuration = requires(const D& duration) {
  typename D::rep;
  D::period::num;
  D::period::den;
  duration.count();
};

constexpr std::uint64_t common_divisor(std::uint64_t a, std::uint64_t b) noexcept {
  return b == 0 ? a : common_divisor(b, a % b);
}

// Rounded up; 0 for what is not positive, and UINT64_MAX for what is too long.
template <ChronoDuration D>
constexpr Duration duration_of(const D& duration) noexcept {
  if (!(duration.count() > 0)) return {0};
  if constexpr (std::is_floating_point_v<typename D::rep>) {
    const auto ns = static_cast<double>(duration.count()) * (1e9 * D::period::num / D::period::den);
    if (ns >= 18446744073709551615.0) return {UINT64_MAX};
    const auto whole = static_cast<std::uint64_t>(ns);
    return {whole + (static_cast<double>(whole) < ns)};
  } else {
    constexpr auto kUnit = static_cast<std::uint64_t>(D::period::num),
                   kPart = static_cast<std::uint64_t>(D::period::den);
    constexpr std::uint64_t kCommon = common_divisor(1000000000, kPart), kDivisor = kPart / kCommon;
    static_assert(kUnit <= UINT64_MAX / (1000000000 / kCommon), "janus: a unit of more than 584 years");
    constexpr std::uint64_t kFactor = kUnit * (1000000000 / kCommon);
    const auto count = static_cast<std::uint64_t>(duration.count());
    std::uint64_t whole = 0, rest = 0, ns = 0;
    if (__builtin_mul_overflow(count / kDivisor, kFactor, &whole) ||
        __builtin_mul_overflow(count % kDivisor, kFactor, &rest) ||
        __builtin_add_overflow(whole, rest / kDivisor + (rest % kDivisor != 0), &ns))
      return {UINT64_MAX};
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

}  // namespace v1
}  // namespace janus

#endif  // JANUS_RT_CALLING_TASK_HPP
