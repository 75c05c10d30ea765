// SPDX-License-Identifier: Apache-2.0
// arch/linux/limits/cgroup.cpp — the part of cgroup.h that reads files. Without /proc or /sys there is no limit.
// docs/decisions/0082
#include "arch/linux/limits/cgroup.h"

#include "arch/linux/files/files.h"
#include "arch/linux/kernel_call.h"
#include "rt/platform.h"

namespace janus::kernel {
namespace {

constexpr std::size_t kPathRoom = 4096 + 256;

// Room for paths and lines: pages of their own, since a caller's stack may be small.
struct Scratch {
  char text[2 * kPathRoom];  // the lines that name our groups, and right behind them a path
  char lines[4 * kPathRoom];
};
constexpr std::size_t kScratchBytes = (sizeof(Scratch) + kPage - 1) & ~(kPage - 1);

// The limit to search for, and buffers.
struct Search {
  Controller controller;
  std::uint64_t (*read)(Version version, char* directory, std::size_t bytes);  // one group's limit
  char* directory;  // kPathRoom bytes: a group's path, `bytes` long, to which `read` may append
  char* lines;
};

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

// Visits the process's own group and all above it, up to the mount's root, which may be a container's group with a
// limit of its own.
std::uint64_t smallest_upwards(const Search& search, Version version, std::size_t bytes, std::size_t top) {
  std::uint64_t least = kNoLimit;
  for (;;) {
    const std::uint64_t limit = search.read(version, search.directory, bytes);
    if (limit < least) least = limit;
    if (bytes <= top) return least;
    do --bytes;
    while (bytes > top && search.directory[bytes] != '/');
  }
}

bool is_group(Version version, const char* directory) {
  FileSystemInfo info{};
  const std::int64_t wanted = version == Version::kTwo ? kFileSystemCgroup2 : kFileSystemCgroup;
  return !failed(call(kStatfs, directory, &info)) && info.type == wanted;
}

// Tries the directory where nearly every machine mounts its root group. If this process's group is there, the table of
// mounts need not be read, which takes longer than all other steps.
bool find_where_usual(const Search& search, Version version, Text path, std::uint64_t& limit) {
  const char* const point = version == Version::kTwo                ? "/sys/fs/cgroup"
                            : search.controller == Controller::kCpu ? "/sys/fs/cgroup/cpu"
                                                                    : "/sys/fs/cgroup/memory";
  std::size_t top = 0;
  const Mount whole{text_of("/"), text_of(point)};
  const std::size_t bytes = group_directory(whole, path, search.directory, kPathRoom, top);
  if (bytes == 0 || !is_group(version, search.directory)) return false;
  limit = smallest_upwards(search, version, bytes, top);
  return true;
}

std::uint64_t find_by_mounts(const Search& search, Version version, Text path) {
  std::uint64_t least = kNoLimit;
  Lines mounts("/proc/self/mountinfo", search.lines, sizeof Scratch::lines);
  Text line;
  while (mounts.next(line)) {
    Mount mount;
    std::size_t top = 0;
    if (!parse_mount(line, search.controller, version, mount)) continue;
    const std::size_t bytes = group_directory(mount, path, search.directory, kPathRoom, top);
    if (bytes == 0) continue;
    const std::uint64_t limit = smallest_upwards(search, version, bytes, top);
    if (limit < least) least = limit;
  }
  return least;
}

// A controller belongs to one version: on a hybrid host, to version 1 if a line of version 1 names it.
bool find_membership(Text memberships, Controller controller, Version& version, Text& path) {
  bool found = false;
  while (!memberships.is_empty()) {
    Version one;
    Text its;
    if (!parse_membership(cut(memberships, '\n'), controller, one, its)) continue;
    version = one;
    path = its;
    found = true;
    if (one == Version::kOne) break;
  }
  return found;
}

std::uint64_t find_limit(Scratch& scratch, Search search) {
  const long got = read_file("/proc/self/cgroup", scratch.text, kPathRoom);
  if (failed(got)) return kNoLimit;
  search.directory = scratch.text + got;
  search.lines = scratch.lines;
  Version version;
  Text path;
  if (!find_membership({scratch.text, static_cast<std::size_t>(got)}, search.controller, version, path))
    return kNoLimit;
  std::uint64_t limit = kNoLimit;
  return find_where_usual(search, version, path, limit) ? limit : find_by_mounts(search, version, path);
}

std::uint64_t smallest_limit(Search search) {
  std::byte* pages = platform::map(kScratchBytes);
  if (pages == nullptr) return kNoLimit;
  const std::uint64_t limit = find_limit(*reinterpret_cast<Scratch*>(pages), search);
  platform::unmap(pages, kScratchBytes);
  return limit;
}

}  // namespace

std::uint64_t cpu_quota_milli() noexcept {
  return smallest_limit({Controller::kCpu, read_quota, nullptr, nullptr});
}

std::uint64_t cgroup_memory_limit() noexcept {
  return smallest_limit({Controller::kMemory, read_memory, nullptr, nullptr});
}

}  // namespace janus::kernel
