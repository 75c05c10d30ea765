// SPDX-License-Identifier: Apache-2.0
// clocks.cpp: the clocks of std::chrono read the runtime's, so that in deterministic mode they are virtual as well.
#include <janus/rt.h>

#include <chrono>

namespace std::chrono {
inline namespace _V2 {

[[gnu::weak]] system_clock::time_point system_clock::now() noexcept {
  return time_point(nanoseconds(janus_unix_time_ns()));
}
[[gnu::weak]] steady_clock::time_point steady_clock::now() noexcept {
  return time_point(nanoseconds(static_cast<std::int64_t>(janus_now_ns())));
}

}  // namespace _V2
}  // namespace std::chrono
