// SPDX-License-Identifier: Apache-2.0
// rt/base/or_error.h — a value, or why there is none; returned in two registers.
#pragma once

namespace janus {

struct Failed {
  int error;  // not 0
};

template <typename Value>
struct [[nodiscard]] OrError {
  constexpr OrError(Value it) noexcept : value(it), error(0) {}
  constexpr OrError(Failed failed) noexcept : value{}, error(failed.error) {}
  explicit operator bool() const noexcept { return error == 0; }

  Value value;  // a null pointer, or 0, if it failed
  int error;    // 0: there is a value
};

}  // namespace janus
