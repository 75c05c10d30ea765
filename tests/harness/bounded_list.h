// SPDX-License-Identifier: Apache-2.0
// tests/harness/bounded_list.h — a list with room for kMax elements, for tests that run where there is no C++ library.
#pragma once

#include <cstddef>

#include "tests/harness/test.h"

namespace janus::test {

template <class T, std::size_t kMax>
class BoundedList {
 public:
  void add(T value) {
    if (CHECK_LT(size_, kMax)) elements_[size_++] = value;
  }
  std::size_t size() const { return size_; }
  T& last() { return elements_[size_ - 1]; }
  T* begin() { return elements_; }
  T* end() { return elements_ + size_; }
  T& operator[](std::size_t index) { return elements_[index]; }

 private:
  T elements_[kMax];
  std::size_t size_ = 0;
};

}  // namespace janus::test
