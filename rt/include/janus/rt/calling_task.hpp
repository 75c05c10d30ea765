// SPDX-License-Identifier: Apache-2.0
// janus/rt/calling_task.hpp: functions for the calling task: yield, check for a cancel, sleep. A part of
// janus/rt.hpp.
#ifndef JANUS_RT_CALLING_TASK_HPP
#define JANUS_RT_CALLING_TASK_HPP

#include <janus/rt/result.hpp>

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

// ---- The calling task ----------------------------------------------------------------------------------------------

inline Result<void> sleep(Duration duration) noexcept {
  return detail::result_of(janus_sleep_ns(duration.ns));
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
