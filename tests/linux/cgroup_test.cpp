// SPDX-License-Identifier: Apache-2.0
// cgroup_test.cpp — the limits of control groups, read from the texts of real hosts and containers, then from trees of
// files in a changed root. These look the same to the reader as a real machine's.
#include "arch/linux/limits/cgroup.h"

#include "arch/linux/files/files.h"
#include "rt/platform.h"
#include "tests/harness/test.h"
#include "tests/linux/kernel_eye.h"

namespace {

using namespace janus;
using namespace janus::kernel;

bool is(Text text, const char* expected) {
  return equal(text, text_of(expected));
}

// --- Text

TEST(text, numbers_are_whole_or_nothing) {
  std::uint64_t n = 7;
  CHECK(parse_number(text_of("150000\n"), n));
  CHECK_EQ(n, 150000u);
  CHECK(parse_number(text_of("18446744073709551615"), n));
  CHECK_EQ(n, ~std::uint64_t{0});
  for (const char* bad : {"", "\n", "max", "-1", "12x", "0x10", "18446744073709551616", "1 2"}) {
    n = 7;
    CHECK(!parse_number(text_of(bad), n));
    CHECK_EQ(n, 7u);
  }
}

TEST(text, cutting_takes_pieces_until_nothing_is_left) {
  Text rest = text_of("a,,bc");
  CHECK(is(cut(rest, ','), "a"));
  CHECK(is(cut(rest, ','), ""));
  CHECK(is(cut(rest, ','), "bc"));
  CHECK(rest.is_empty());
  CHECK(is(cut(rest, ','), ""));
}

TEST(text, a_list_holds_whole_names) {
  CHECK(lists(text_of("rw,cpu,cpuacct"), text_of("cpu")));
  CHECK(!lists(text_of("rw,cpuacct,cpuset"), text_of("cpu")));
  CHECK(!lists(text_of(""), text_of("cpu")));
}

// --- Lines

TEST(cgroup, membership_is_found_by_controller_in_version_1_and_by_the_zero_in_version_2) {
  Version version;
  Text path;
  REQUIRE(parse_membership(text_of("4:cpu,cpuacct:/a/b"), Controller::kCpu, version, path));
  CHECK(version == Version::kOne);
  CHECK(is(path, "/a/b"));
  REQUIRE(parse_membership(text_of("0::/user.slice/a:b"), Controller::kMemory, version, path));
  CHECK(version == Version::kTwo);
  CHECK(is(path, "/user.slice/a:b"));
  for (const char* other :
       {"3:cpuset:/", "2:cpuacct:/", "1:name=systemd:/init", "", "0:", "0::", "nonsense", "4:cpu:relative"})
    CHECK(!parse_membership(text_of(other), Controller::kCpu, version, path));
}

TEST(cgroup, mounts_are_told_by_type_and_controller) {
  Mount mount;
  const char* v1 = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 master:3 - cgroup cgroup rw,cpu,cpuacct";
  REQUIRE(parse_mount(text_of(v1), Controller::kCpu, Version::kOne, mount));
  CHECK(is(mount.root, "/"));
  CHECK(is(mount.point, "/sys/fs/cgroup/cpu,cpuacct"));
  CHECK(!parse_mount(text_of(v1), Controller::kMemory, Version::kOne, mount));
  CHECK(!parse_mount(text_of(v1), Controller::kCpu, Version::kTwo, mount));
  const char* v2 = "35 24 0:30 /docker/12 /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate";
  REQUIRE(parse_mount(text_of(v2), Controller::kMemory, Version::kTwo, mount));
  CHECK(is(mount.root, "/docker/12"));
  CHECK(!parse_mount(text_of(v2), Controller::kMemory, Version::kOne, mount));
  for (const char* other : {"", "23 28 0:21 / /proc rw - proc proc rw", "1 2 3 4 5 6 7", "1 2 3 / /sys rw -"})
    CHECK(!parse_mount(text_of(other), Controller::kCpu, Version::kTwo, mount));
}

struct Directory {
  char text[64];
  std::size_t bytes, top = 0;
  Directory(const char* root, const char* point, const char* path, std::size_t room = sizeof text) : text{} {
    bytes = group_directory({text_of(root), text_of(point)}, text_of(path), text, room, top);
  }
};

TEST(cgroup, a_group_is_found_below_its_mount) {
  const Directory nested("/", "/sys/fs/cgroup", "/a/b");
  CHECK_STREQ(nested.text, "/sys/fs/cgroup/a/b");
  CHECK_EQ(nested.top, 14u);
  CHECK_STREQ(Directory("/", "/sys/fs/cgroup", "/").text, "/sys/fs/cgroup");
  CHECK_STREQ(Directory("/a", "/cg", "/a/b/c").text, "/cg/b/c");
}

TEST(cgroup, a_bind_mount_of_a_container_shows_its_own_group_as_the_root) {
  CHECK_STREQ(Directory("/docker/12", "/cg", "/docker/12").text, "/cg");
  CHECK_STREQ(Directory("/docker/12", "/cg", "/docker/12/x").text, "/cg/x");
  // not below the mount's root: the mount itself is used
  CHECK_STREQ(Directory("/docker/12", "/cg", "/docker/123").text, "/cg");
  CHECK_STREQ(Directory("/docker/12", "/cg", "/elsewhere").text, "/cg");
  CHECK_STREQ(Directory("/", "/cg", "/../outside").text, "/cg");
}

TEST(cgroup, escapes_in_a_mount_point_are_undone) {
  CHECK_STREQ(Directory("/", "/a\\040b\\134c", "/").text, "/a b\\c");
  CHECK_STREQ(Directory("/", "/a\\04", "/").text, "/a\\04");
}

TEST(cgroup, a_path_that_does_not_fit_is_no_path) {
  CHECK_EQ(Directory("/", "/sys/fs/cgroup", "/a", 16).bytes, 0u);
  CHECK_EQ(Directory("/", "/sys/fs/cgroup", "/a", 17).bytes, 16u);
}

TEST(cgroup, quotas_count_in_thousandths_of_a_cpu) {
  CHECK_EQ(parse_quota_v2(text_of("150000 100000\n")), 1500u);
  CHECK_EQ(parse_quota_v2(text_of("50000 100000\n")), 500u);
  CHECK_EQ(parse_quota_v2(text_of("max 100000\n")), kNoLimit);
  CHECK_EQ(parse_quota_v1(text_of("400000\n"), text_of("100000\n")), 4000u);
  CHECK_EQ(parse_quota_v1(text_of("-1\n"), text_of("100000\n")), kNoLimit);
  CHECK_EQ(parse_quota_v1(text_of("100000\n"), text_of("0\n")), kNoLimit);
  CHECK_EQ(parse_quota_v2(text_of("")), kNoLimit);
  CHECK_EQ(parse_quota_v2(text_of("18446744073709551615 100000")), kNoLimit);
}

TEST(cgroup, memory_limits_are_bytes_or_none) {
  CHECK_EQ(parse_memory(text_of("536870912\n")), 536870912u);
  CHECK_EQ(parse_memory(text_of("max\n")), kNoLimit);
  CHECK_EQ(parse_memory(text_of("9223372036854771712\n")), 9223372036854771712u);  // version 1's value for "no limit"
}

// --- Trees of files, in a changed root

struct File {
  const char* path;
  const char* text;  // nullptr: a directory
};

constexpr char kRoot[] = "janus-cgroup-test";

// Removes the files and directories that exist.
void remove_tree(const File* files, std::size_t count) {
  while (count-- > 0) test::call(files[count].text == nullptr ? test::kRmdir : test::kUnlink, files[count].path);
}

template <std::size_t kCount, typename Body>
test::End in_root_with(const File (&files)[kCount], Body body) {
  const test::End end = test::in_child([&] {
    test::call(test::kMkdir, kRoot, 0755);
    if (test::failed(test::call(test::kChroot, kRoot)) || test::failed(test::call(test::kChdir, kRoot))) return false;
    for (const File& file : files) {
      const bool made = file.text == nullptr ? !test::failed(test::call(test::kMkdir, file.path, 0755))
                                             : test::write_file(file.path, file.text);
      if (!made) return false;
    }
    const bool held = body();
    remove_tree(files, kCount);
    return held;
  });
  test::call(test::kRmdir, kRoot);
  return end;
}

bool quota_is(unsigned quota, bool fractional) {
  platform::Cpus cpus;
  platform::cpus(cpus);
  return cpus.allowed >= 1 && cpus.quota == quota && cpus.fractional == fractional;
}

#define NEEDS_ROOT \
  if (!test::is_root()) SKIP("changing the root needs root")

constexpr char kMountV2[] = "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n";

TEST(cgroup, without_proc_and_sys_there_is_no_quota_and_the_memory_is_the_machines) {
  NEEDS_ROOT;
  static const File nothing[] = {{"/empty", nullptr}};
  const test::End end = in_root_with(nothing, [] {
    platform::Cpus cpus;
    platform::cpus(cpus);
    return cpus.quota == cpus.allowed && !cpus.fractional && platform::memory_limit() >= 1 << 20;
  });
  CHECK(end.exited(0));
}

TEST(cgroup, the_smallest_quota_of_all_ancestors_counts) {
  NEEDS_ROOT;
  static const File files[] = {
      {"/proc", nullptr},
      {"/proc/self", nullptr},
      {"/cg", nullptr},
      {"/cg/a", nullptr},
      {"/cg/a/b", nullptr},
      {"/proc/self/cgroup", "0::/a/b\n"},
      {"/proc/self/mountinfo", kMountV2},
      {"/cg/a/cpu.max", "250000 100000\n"},
      {"/cg/a/b/cpu.max", "800000 100000\n"},
      {"/cg/a/memory.max", "67108864\n"},
      {"/cg/a/b/memory.max", "max\n"},
  };
  const test::End end = in_root_with(files, [] { return quota_is(2, true) && platform::memory_limit() == 67108864; });
  CHECK(end.exited(0));
}

TEST(cgroup, less_than_one_cpu_is_one_worker) {
  NEEDS_ROOT;
  static const File files[] = {{"/proc", nullptr},
                               {"/proc/self", nullptr},
                               {"/cg", nullptr},
                               {"/proc/self/cgroup", "0::/\n"},
                               {"/proc/self/mountinfo", kMountV2},
                               {"/cg/cpu.max", "20000 100000\n"}};
  CHECK(in_root_with(files, [] { return quota_is(1, true); }).exited(0));
}

TEST(cgroup, a_whole_quota_of_fewer_cpus_than_there_are_is_not_for_pinning) {
  NEEDS_ROOT;
  static const File files[] = {{"/proc", nullptr},
                               {"/proc/self", nullptr},
                               {"/cg", nullptr},
                               {"/proc/self/cgroup", "0::/\n"},
                               {"/proc/self/mountinfo", kMountV2},
                               {"/cg/cpu.max", "100000 100000\n"}};
  const test::End end = in_root_with(files, [] {
    platform::Cpus cpus;
    platform::cpus(cpus);
    return cpus.quota == 1 && cpus.fractional == (cpus.allowed > 1);
  });
  CHECK(end.exited(0));
}

TEST(cgroup, a_quota_of_more_cpus_than_there_are_leaves_them_all_to_pin) {
  NEEDS_ROOT;
  static const File files[] = {{"/proc", nullptr},
                               {"/proc/self", nullptr},
                               {"/cg", nullptr},
                               {"/proc/self/cgroup", "0::/\n"},
                               {"/proc/self/mountinfo", kMountV2},
                               {"/cg/cpu.max", "102400000 100000\n"}};
  CHECK(in_root_with(files, [] { return quota_is(1024, false); }).exited(0));
}

TEST(cgroup, version_1_of_a_container_with_a_bind_mount) {
  NEEDS_ROOT;
  static const File files[] = {
      {"/proc", nullptr},
      {"/proc/self", nullptr},
      {"/cg", nullptr},
      {"/cg/cpu", nullptr},
      {"/cg/memory", nullptr},
      {"/proc/self/cgroup", "12:pids:/docker/12\n5:memory:/docker/12\n3:cpu,cpuacct:/docker/12\n0::/docker/12\n"},
      {"/proc/self/mountinfo",
       "23 28 0:21 / /proc rw - proc proc rw\n"
       "31 30 0:27 /docker/12 /cg/cpu ro master:11 - cgroup cgroup rw,cpu,cpuacct\n"
       "32 30 0:28 /docker/12 /cg/memory ro master:12 - cgroup cgroup rw,memory\n"},
      {"/cg/cpu/cpu.cfs_quota_us", "100000\n"},
      {"/cg/cpu/cpu.cfs_period_us", "50000\n"},
      {"/cg/memory/memory.limit_in_bytes", "268435456\n"},
  };
  const test::End end = in_root_with(files, [] {
    platform::Cpus cpus;
    platform::cpus(cpus);
    return cpus.quota == 2 && cpus.fractional == (cpus.allowed > 2) && platform::memory_limit() == 268435456;
  });
  CHECK(end.exited(0));
}

TEST(cgroup, files_that_make_no_sense_are_no_limit) {
  NEEDS_ROOT;
  static const File files[] = {{"/proc", nullptr},
                               {"/proc/self", nullptr},
                               {"/cg", nullptr},
                               {"/proc/self/cgroup", "0::/\n:::\n\n"},
                               {"/proc/self/mountinfo", kMountV2},
                               {"/cg/cpu.max", "many of them\n"},
                               {"/cg/memory.max", "-5\n"}};
  const test::End end = in_root_with(files, [] {
    platform::Cpus cpus;
    platform::cpus(cpus);
    return cpus.quota == cpus.allowed && platform::memory_limit() >= 1 << 20;
  });
  CHECK(end.exited(0));
}

TEST(cgroup, this_process_has_at_most_what_the_machine_has) {
  platform::Cpus cpus;
  platform::cpus(cpus);
  SystemInfo info{};
  REQUIRE(!test::failed(test::call(kSysinfo, &info)));
  CHECK_GE(cpus.allowed, 1u);
  CHECK_GE(cpus.quota, 1u);
  unsigned descents = 0;  // the list is ascending and wraps around at most once
  for (unsigned i = 1; i < cpus.allowed; ++i) descents += cpus.ids[i - 1] >= cpus.ids[i];
  CHECK_LE(descents, 1u);
  if (descents == 1) CHECK_LT(cpus.ids[cpus.allowed - 1], cpus.ids[0]);
  CHECK_GT(platform::memory_limit(), 0u);
  CHECK_LE(platform::memory_limit(), info.total_ram * info.unit);
  const std::uint64_t begin = platform::now_ns();
  platform::cpus(cpus);
  test::note("us to look at affinity and quotas", (platform::now_ns() - begin) / 1000);
  test::note("CPUs allowed", cpus.allowed);
  test::note("CPUs by quota", cpus.quota);
  test::note("MiB that may be used", platform::memory_limit() >> 20);
}

// --- Real control groups

// A group made by this test with a second one below it, and this process in the inner one. Only where the machine
// allows that.
class TwoGroups {
 public:
  explicit TwoGroups(const char* top) {
    join(outer_, top, "/janus-rt-test");
    join(inner_, outer_, "/inner");
    made_ =
        !test::failed(test::call(test::kMkdir, outer_, 0755)) && !test::failed(test::call(test::kMkdir, inner_, 0755));
  }
  ~TwoGroups() {
    test::call(test::kRmdir, inner_);
    test::call(test::kRmdir, outer_);
  }
  [[nodiscard]] bool limit_outer(const char* file, const char* value) const {
    return made_ && set(outer_, file, value);
  }
  // The process stays in the group for good, so this is called in a child.
  [[nodiscard]] bool enter() const { return made_ && set(inner_, "/cgroup.procs", "0\n"); }

 private:
  static void join(char (&out)[128], const char* front, const char* back) {
    char* at = out;
    for (; *front != '\0'; ++front) *at++ = *front;
    do *at++ = *back;
    while (*back++ != '\0');
  }
  static bool set(const char* directory, const char* file, const char* value) {
    char path[128];
    join(path, directory, file);
    const long fd = test::call(test::kOpen, path, 1);  // for writing, and only if the file exists
    if (test::failed(fd)) return false;
    const long bytes = static_cast<long>(text_of(value).bytes);
    const bool written = test::call(kWrite, fd, value, bytes) == bytes;
    test::call(kClose, fd);
    return written;
  }

  char outer_[128], inner_[128];
  bool made_ = false;
};

// Checks in a child that the group is found at the usual place, and by the table of mounts where the usual place cannot
// be read.
template <typename Body>
void check_both_ways(const TwoGroups& groups, Body body) {
  CHECK(test::in_child([&] { return groups.enter() && body(); }).exited(0));
  CHECK(test::in_child([&] { return groups.enter() && test::refuse(kStatfs, kEPERM) && body(); }).exited(0));
}

TEST(cgroup, a_memory_limit_of_a_real_group_above_ours_is_found) {
  const TwoGroups one("/sys/fs/cgroup/memory"), two("/sys/fs/cgroup");
  const auto is_limit = [] { return platform::memory_limit() == 64 << 20; };
  const bool in_one = one.limit_outer("/memory.limit_in_bytes", "67108864\n");
  const bool in_two = two.limit_outer("/memory.max", "67108864\n");
  if (in_one) check_both_ways(one, is_limit);
  if (in_two) check_both_ways(two, is_limit);
  if (!in_one && !in_two) SKIP("no group can be made here");
}

TEST(cgroup, a_quota_of_a_real_group_above_ours_is_found) {
  const TwoGroups one("/sys/fs/cgroup/cpu"), two("/sys/fs/cgroup");
  const auto is_limit = [] {
    platform::Cpus cpus;
    platform::cpus(cpus);
    return cpus.quota == 1 && cpus.fractional;
  };
  const bool in_one = one.limit_outer("/cpu.cfs_quota_us", "150000\n");
  const bool in_two = two.limit_outer("/cpu.max", "150000 100000\n");
  if (in_one) check_both_ways(one, is_limit);
  if (in_two) check_both_ways(two, is_limit);
  if (!in_one && !in_two) SKIP("no group can be made here");
}

// --- Lines of files

TEST(lines, are_read_whole_across_refills_of_the_buffer_and_too_long_ones_are_skipped) {
  REQUIRE(test::write_file("janus-lines-test", "one\n\nthree is long\nno line of twenty-four bytes or more\nlast"));
  char buffer[20];
  Text line;
  {
    Lines lines("janus-lines-test", buffer, sizeof buffer);
    CHECK(lines.next(line) && is(line, "one"));
    CHECK(lines.next(line) && is(line, ""));
    CHECK(lines.next(line) && is(line, "three is long"));
    CHECK(lines.next(line) && is(line, "last"));
    CHECK(!lines.next(line));
  }
  test::call(test::kUnlink, "janus-lines-test");
  Lines none("/no/such/file", buffer, sizeof buffer);
  CHECK(!none.next(line));
}

}  // namespace
