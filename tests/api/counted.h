// SPDX-License-Identifier: Apache-2.0
// tests/api/counted.h — a value that counts its objects, to see that what is moved into tasks, channels and results is
// destroyed once. Any thread.
#pragma once

#include <atomic>
#include <utility>

namespace janus::test {

// Can be moved, but neither copied nor moved byte by byte. One that was moved from has -1.
class Counted {
 public:
  explicit Counted(int value = 0) noexcept : value_(value) { count_.fetch_add(1); }
  Counted(Counted&& other) noexcept : Counted(std::exchange(other.value_, -1)) {}
  Counted& operator=(Counted&& other) noexcept {
    value_ = std::exchange(other.value_, -1);
    return *this;
  }
  ~Counted() { count_.fetch_sub(1); }
  [[nodiscard]] int value() const noexcept { return value_; }

  // How many objects there are.
  [[nodiscard]] static int alive() noexcept { return count_.load(); }

 private:
  int value_;
  inline static std::atomic<int> count_{0};
};

}  // namespace janus::test
