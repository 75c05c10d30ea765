// SPDX-License-Identifier: Apache-2.0
// rt/base/construct_in.h — constructs records of many fields, nearly all of which begin as 0.
#pragma once

#include <new>

namespace janus {

// Constructs a T with its default values at `place`. T() clears all of it first. With all constructors inlined the
// compiler sees that, and drops each store of a 0 by a constructor: that is most of their code.
template <typename T>
[[gnu::flatten]] T& construct_in(void* place) noexcept {
  return *new (place) T();
}

}  // namespace janus
