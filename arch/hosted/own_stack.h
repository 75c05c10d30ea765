// SPDX-License-Identifier: Apache-2.0
// own_stack.h — the bounds of the stack that the C library gave the calling thread.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace janus::hosted {

struct Bounds {
  const std::byte* limit;
  std::size_t bytes;
};

inline Bounds own_stack() noexcept {
  pthread_attr_t attributes;
  void* limit = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &limit, &bytes);
    pthread_attr_destroy(&attributes);
  }
  return {static_cast<const std::byte*>(limit), bytes};
}

}  // namespace janus::hosted
