// SPDX-License-Identifier: Apache-2.0
// arch/linux/time/futex.cpp — waiting for a word to change.
#include "arch/linux/kernel_call.h"
#include "rt/platform.h"

namespace janus::platform {

using namespace janus::kernel;

// Ignores the result, since callers check the word again in each case: woken, timed out, interrupted, or the word had
// changed.
void wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::uint64_t until_ns) noexcept {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const Timespec until{static_cast<std::int64_t>(until_ns / kSecond), static_cast<std::int64_t>(until_ns % kSecond)};
  call(kFutex, &word, kFutexWaitBitsetPrivate, seen, until_ns == kForever ? nullptr : &until, nullptr, kFutexAnyone);
}

void wake(std::atomic<std::uint32_t>& word, std::uint32_t count) noexcept {
  constexpr std::uint32_t kMax = 0x7fffffff;  // the kernel's count is signed
  call(kFutex, &word, kFutexWakePrivate, count < kMax ? count : kMax);
}

}  // namespace janus::platform
