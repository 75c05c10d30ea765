// SPDX-License-Identifier: Apache-2.0
// arch/linux/limits/resources.cpp — the resources of this process: CPUs by affinity and quota, memory by size and
// limit.
#include <bit>
#include <initializer_list>

#include "arch/linux/kernel_call.h"
#include "arch/linux/limits/cgroup.h"
#include "arch/linux/threads/affinity.h"
#include "rt/platform.h"

namespace janus::platform {

using namespace janus::kernel;

namespace {

// Lists CPUs in ascending order, cyclically, from the caller's present one: a thread that pins itself to the first
// stays where it is, and programs with one worker each do not all use the lowest CPU.
void list_allowed(Cpus& out) {
  CpuMask mask;
  allowed_cpus(mask);
  unsigned here = 0;
  if (failed(call(kGetcpu, &here, nullptr, nullptr))) here = 0;
  out.allowed = 0;
  for (const bool from_here : {true, false}) {
    for (unsigned word = 0; word < sizeof mask.words / 8; ++word) {
      for (std::uint64_t bits = mask.words[word]; bits != 0 && out.allowed < kMaxCpus; bits &= bits - 1) {
        const unsigned cpu = word * 64 + static_cast<unsigned>(std::countr_zero(bits));
        if ((cpu >= here) == from_here) out.ids[out.allowed++] = static_cast<std::uint16_t>(cpu);
      }
    }
  }
}

}  // namespace

// Rounds a quota down: with more workers than whole CPUs, a worker would be throttled in the middle of a period, and
// delay all tasks that wait for its task. docs/decisions/0011.
void cpus(Cpus& out) noexcept {
  list_allowed(out);
  const std::uint64_t milli = cpu_quota_milli();
  const std::uint64_t whole = milli / 1000;
  out.quota = out.allowed;
  out.fractional = false;
  if (milli == kNoLimit) return;
  out.quota = whole < 1 ? 1 : whole > kMaxCpus ? kMaxCpus : static_cast<unsigned>(whole);
  out.fractional = milli % 1000 != 0 || whole < out.allowed;
}

std::uint64_t memory_limit() noexcept {
  SystemInfo info{};
  std::uint64_t machine = 0;
  if (!failed(call(kSysinfo, &info))) machine = info.total_ram * info.unit;
  const std::uint64_t group = cgroup_memory_limit();
  const std::uint64_t least = machine != 0 && machine < group ? machine : group;
  return least == 0 || least == kNoLimit ? std::uint64_t{1} << 30 : least;  // unknown: assumes little
}

}  // namespace janus::platform
