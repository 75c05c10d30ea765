// SPDX-License-Identifier: Apache-2.0
// arch/linux/time/clock.cpp — the time, read in user mode if the kernel provides the vDSO.
#include "arch/linux/auxv/auxv.h"
#include "arch/linux/auxv/vdso.h"
#include "arch/linux/kernel_call.h"
#include "rt/platform.h"

namespace janus::platform {

using namespace janus::kernel;

namespace {

using ReadClock = long (*)(long clock, Timespec* out);

long read_by_system_call(long clock, Timespec* out) {
  return call(kClockGettime, clock, out);
}

// Determined by the first caller; concurrent callers find the same.
std::atomic<ReadClock> g_read_clock{nullptr};

ReadClock find_read_clock() {
  const auto* image = reinterpret_cast<const elf::Header*>(aux_value(kAuxVdso, 0));
  const void* found = image == nullptr ? nullptr : elf::find_symbol(image, "__vdso_clock_gettime");
  const ReadClock read = found == nullptr ? read_by_system_call : reinterpret_cast<ReadClock>(const_cast<void*>(found));
  g_read_clock.store(read, std::memory_order_relaxed);
  return read;
}

std::int64_t read_ns(long clock) {
  ReadClock read = g_read_clock.load(std::memory_order_relaxed);
  if (read == nullptr) [[unlikely]]
    read = find_read_clock();
  Timespec time{};
  read(clock, &time);
  return time.seconds * 1'000'000'000 + time.nanoseconds;
}

}  // namespace

std::uint64_t now_ns() noexcept {
  return static_cast<std::uint64_t>(read_ns(kClockMonotonic));
}

std::uint64_t thread_ns() noexcept {
  return static_cast<std::uint64_t>(read_ns(kClockThread));
}

std::uint64_t preemptions() noexcept {
  Rusage usage{};
  (void)call(kGetrusage, kUsageOfThread, &usage);
  return static_cast<std::uint64_t>(usage.involuntary_switches);
}

std::int64_t unix_time_ns() noexcept {
  return read_ns(kClockRealtime);
}

}  // namespace janus::platform
