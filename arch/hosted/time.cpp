// SPDX-License-Identifier: Apache-2.0
// time.cpp — clocks, and sleeping on a word. The words are C++ atomics with their memory orders, which a sanitizer
// understands.
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arch/hosted/hosted.h"

namespace janus::hosted {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// By a direct system call: a sanitizer would record the function's write to the current stack, which may be a task's.
std::uint64_t read_clock(clockid_t clock) noexcept {
  timespec time{};
  syscall(SYS_clock_gettime, clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * kSecond + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

std::uint64_t now_ns() noexcept {
  return read_clock(CLOCK_MONOTONIC);
}

std::uint64_t thread_ns() noexcept {
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

std::uint64_t preemptions() noexcept {
  rusage usage{};
  syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
  return static_cast<std::uint64_t>(usage.ru_nivcsw);
}

std::int64_t unix_time_ns() noexcept {
  return static_cast<std::int64_t>(read_clock(CLOCK_REALTIME));
}

void wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::uint64_t until_ns) noexcept {
  timespec until{};
  until.tv_sec = static_cast<time_t>(until_ns / kSecond);
  until.tv_nsec = static_cast<long>(until_ns % kSecond);
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, seen, until_ns == platform::kForever ? nullptr : &until, nullptr,
          FUTEX_BITSET_MATCH_ANY);
}

void wake(std::atomic<std::uint32_t>& word, std::uint32_t count) noexcept {
  const std::uint32_t limit = count < 0x7fffffff ? count : 0x7fffffff;  // the kernel takes an int
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, limit, nullptr, nullptr, 0);
}

bool has_heavy_fence() noexcept {
  static const bool registered = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  return registered;
}

void heavy_fence() noexcept {
  if (has_heavy_fence()) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

}  // namespace janus::hosted
