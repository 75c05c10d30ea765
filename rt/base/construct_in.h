// SPDX-License-Identifier: Apache-2.0
// rt/base/construct_in.h — constructs records of many fields, nearly all of which begin as 0.
#pragma once

#include <new>

namespace janus {

// Constructs a T with its default values at `place`. T() first clears the whole object. With all constructors inlined,
// the compiler sees that, and removes each store of a 0, which is most of the constructors' code.
template <typename T>
[[gnu::flatten]] T& construct_in(void* place) noexcept {
  return *new (place) T();
}

}  // namespace janus
