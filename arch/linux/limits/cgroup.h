// SPDX-License-Identifier: Apache-2.0
// arch/linux/limits/cgroup.h — the limits of control groups, version 1 and 2, for this process: of its own group and
// all visible ancestors. The functions on Text read no files: tests call them with the contents of real containers'
// files.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/linux/files/text.h"

namespace janus::kernel {

inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

// --- Functions that read no files

enum class Controller : std::uint8_t { kCpu, kMemory };
enum class Version : std::uint8_t { kOne, kTwo };

// One line of /proc/self/cgroup, "4:cpu,cpuacct:/a/b" or "0::/a/b". False if it does not concern `controller`.
[[nodiscard]] bool parse_membership(Text line, Controller controller, Version& version, Text& path) noexcept;

// One line of /proc/self/mountinfo. False if no hierarchy of that version with that controller is mounted there.
struct Mount {
  Text root;   // the group of the hierarchy that is mounted at ...
  Text point;  // ... this directory; both with \ooo escapes for odd characters
};
[[nodiscard]] bool parse_mount(Text line, Controller controller, Version version, Mount& out) noexcept;

// Writes the directory of the group `path` below `mount`, with a final zero; if the group is outside of the mounted
// part (a container's bind mount), the nearest visible directory: the mount point. Returns its length, or 0 if it does
// not fit; `point_bytes` receives the length of the mount point in it, above which there are no groups.
[[nodiscard]] std::size_t group_directory(const Mount& mount, Text path, char* out, std::size_t room,
                                          std::size_t& point_bytes) noexcept;

// A CPU quota in 1/1000 CPUs. "max 100000" (2) and "-1" (1) mean no quota; so does text that cannot be parsed.
[[nodiscard]] std::uint64_t parse_quota_v2(Text cpu_max) noexcept;
[[nodiscard]] std::uint64_t parse_quota_v1(Text quota_us, Text period_us) noexcept;

// memory.max or memory.limit_in_bytes.
[[nodiscard]] std::uint64_t parse_memory(Text limit) noexcept;

// --- The process

// The smallest quota, in 1/1000 CPUs, and the smallest memory limit in bytes; kNoLimit if there is none.
[[nodiscard]] std::uint64_t cpu_quota_milli() noexcept;
[[nodiscard]] std::uint64_t cgroup_memory_limit() noexcept;

}  // namespace janus::kernel
