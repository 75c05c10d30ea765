// SPDX-License-Identifier: Apache-2.0
// REFUSED: movable without throwing
#include <janus/rt.hpp>
struct Risky {
  Risky(Risky&&) noexcept(false) {}
};
janus::Channel<Risky> channel;
