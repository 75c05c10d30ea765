// SPDX-License-Identifier: Apache-2.0
// arch/linux/cgroup.cpp — the half of cgroup.h that reads files. Where there is no /proc or no /sys there is no limit.
#include "arch/linux/cgroup.h"

#include "arch/linux/files.h"
#include "arch/linux/kernel_call.h"
#include "rt/platform.h"

namespace janus::kernel {
namespace {

constexpr std::size_t kPathRoom = 4096 + 256;

// Room for paths and lines: pages of their own, since a caller's stack may be small.
struct Scratch {
  char memberships[kPathRoom];  // the lines that name our groups
  char directory[kPathRoom];
  char lines[4 * kPathRoom];
};
constexpr std::size_t kScratchBytes = (sizeof(Scratch) + kPage - 1) & ~(kPage - 1);

// One group's limit, from the files in `directory`, whose path ends at `bytes` and may be built upon.
using ReadLimit = std::uint64_t (*)(Version version, char* directory, std::size_t bytes);

bool read_beside(char* directory, std::size_t bytes, const char* name, FileText<64>& out) {
  const Text text = text_of(name);
  if (bytes + text.bytes >= kPathRoom) return false;
  for (std::size_t i = 0; i <= text.bytes; ++i) directory[bytes + i] = name[i];
  return out.read(directory);
}

std::uint64_t read_quota(Version version, char* directory, std::size_t bytes) {
  FileText<64> quota, period;
  if (version == Version::kTwo)
    return read_beside(directory, bytes, "/cpu.max", quota) ? parse_quota_v2(quota.view()) : kNoLimit;
  if (!read_beside(directory, bytes, "/cpu.cfs_quota_us", quota)) return kNoLimit;
  if (!read_beside(directory, bytes, "/cpu.cfs_period_us", period)) return kNoLimit;
  return parse_quota_v1(quota.view(), period.view());
}

std::uint64_t read_memory(Version version, char* directory, std::size_t bytes) {
  FileText<64> limit;
  const char* const name = version == Version::kTwo ? "/memory.max" : "/memory.limit_in_bytes";
  return read_beside(directory, bytes, name, limit) ? parse_memory(limit.view()) : kNoLimit;
}

// From our own group up to what the mount shows as the root, which may be a container's group and limited, too.
std::uint64_t smallest_upwards(Version version, char* directory, std::size_t bytes, std::size_t top, ReadLimit read) {
  std::uint64_t least = kNoLimit;
  for (;;) {
    const std::uint64_t limit = read(version, directory, bytes);
    if (limit < least) least = limit;
    if (bytes <= top) return least;
    do --bytes;
    while (bytes > top && directory[bytes] != '/');
  }
}

std::uint64_t limit_in(Scratch& scratch, Controller controller, Version version, Text path, ReadLimit read) {
  std::uint64_t least = kNoLimit;
  Lines mounts("/proc/self/mountinfo", scratch.lines, sizeof scratch.lines);
  Text line;
  while (mounts.next(line)) {
    Mount mount;
    std::size_t top = 0;
    if (!parse_mount(line, controller, version, mount)) continue;
    const std::size_t bytes = group_directory(mount, path, scratch.directory, kPathRoom, top);
    if (bytes == 0) continue;
    const std::uint64_t limit = smallest_upwards(version, scratch.directory, bytes, top, read);
    if (limit < least) least = limit;
  }
  return least;
}

// A hybrid host has both versions; a controller belongs to one of them, and the other's files are not there.
std::uint64_t limit_of_version(Scratch& scratch, Text memberships, Controller controller, Version wanted,
                               ReadLimit read) {
  while (!memberships.is_empty()) {
    Version version;
    Text path;
    if (parse_membership(cut(memberships, '\n'), controller, version, path) && version == wanted)
      return limit_in(scratch, controller, version, path, read);
  }
  return kNoLimit;
}

std::uint64_t smallest_limit(Controller controller, ReadLimit read) {
  std::byte* pages = platform::map(kScratchBytes);
  if (pages == nullptr) return kNoLimit;
  auto& scratch = *reinterpret_cast<Scratch*>(pages);
  const long bytes = read_file("/proc/self/cgroup", scratch.memberships, sizeof scratch.memberships);
  const Text memberships{scratch.memberships, failed(bytes) ? 0 : static_cast<std::size_t>(bytes)};
  const std::uint64_t one = limit_of_version(scratch, memberships, controller, Version::kOne, read);
  const std::uint64_t two = limit_of_version(scratch, memberships, controller, Version::kTwo, read);
  platform::unmap(pages, kScratchBytes);
  return one < two ? one : two;
}

}  // namespace

std::uint64_t cpu_quota_milli() noexcept {
  return smallest_limit(Controller::kCpu, read_quota);
}

std::uint64_t cgroup_memory_limit() noexcept {
  return smallest_limit(Controller::kMemory, read_memory);
}

}  // namespace janus::kernel
