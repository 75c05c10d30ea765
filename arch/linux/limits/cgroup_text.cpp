// SPDX-License-Identifier: Apache-2.0
// arch/linux/limits/cgroup_text.cpp — the part of cgroup.h that reads no files.
#include "arch/linux/limits/cgroup.h"

namespace janus::kernel {
namespace {

Text name_of(Controller controller) {
  return text_of(controller == Controller::kCpu ? "cpu" : "memory");
}

unsigned octal(Text digits) {
  return static_cast<unsigned>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0'));
}

bool is_octal(Text text) {
  for (std::size_t i = 0; i < 3; ++i)
    if (i >= text.bytes || text[i] < '0' || text[i] > '7') return false;
  return true;
}

// Composes text, and undoes mountinfo's escapes.
struct Writer {
  char* out;
  std::size_t room, used = 0;
  bool fits = true;

  void put(char c) {
    if (used + 1 < room)
      out[used++] = c;
    else
      fits = false;
  }
  void plain(Text text) {
    for (std::size_t i = 0; i < text.bytes; ++i) put(text[i]);
  }
  void unescaped(Text text) {
    while (!text.is_empty()) {
      const bool escaped = text[0] == '\\' && is_octal(text.from(1));
      put(escaped ? static_cast<char>(octal(text.from(1))) : text[0]);
      text = text.from(escaped ? 4 : 1);
    }
  }
};

// The part of `path` below the group `root`, which is shown at the mount point.
Text below(Text path, Text root) {
  if (equal(root, text_of("/"))) return path;
  if (!begins_with(path, root)) return {};
  const Text rest = path.from(root.bytes);
  return rest.is_empty() || rest[0] == '/' ? rest : Text{};
}

}  // namespace

bool parse_membership(Text line, Controller controller, Version& version, Text& path) noexcept {
  const Text hierarchy = cut(line, ':');
  const Text controllers = cut(line, ':');
  if (line.is_empty() || line[0] != '/') return false;
  const bool unified = equal(hierarchy, text_of("0")) && controllers.is_empty();
  if (!unified && !lists(controllers, name_of(controller))) return false;
  version = unified ? Version::kTwo : Version::kOne;
  path = line;
  return true;
}

// id parent major:minor root point options tag... - type source superblock-options
bool parse_mount(Text line, Controller controller, Version version, Mount& out) noexcept {
  for (int i = 0; i < 3; ++i) (void)cut(line, ' ');
  const Text root = cut(line, ' '), point = cut(line, ' ');
  while (!line.is_empty() && !equal(cut(line, ' '), text_of("-"))) {
  }
  const Text type = cut(line, ' ');
  (void)cut(line, ' ');
  const bool fits = version == Version::kTwo
                        ? equal(type, text_of("cgroup2"))
                        : equal(type, text_of("cgroup")) && lists(trimmed(line), name_of(controller));
  if (fits) out = {root, point};
  return fits;
}

std::size_t group_directory(const Mount& mount, Text path, char* out, std::size_t room,
                            std::size_t& point_bytes) noexcept {
  Writer writer{out, room};
  writer.unescaped(mount.point);
  point_bytes = writer.used;
  const Text rest = below(path, mount.root);
  // "/../.." is a group above the one that a cgroup namespace shows as its root.
  if (!equal(rest, text_of("/")) && !begins_with(rest, text_of("/.."))) writer.plain(rest);
  if (!writer.fits) return 0;
  out[writer.used] = '\0';
  return writer.used;
}

std::uint64_t parse_quota_v1(Text quota_us, Text period_us) noexcept {
  std::uint64_t quota = 0, period = 0, milli = 0;
  if (!parse_number(quota_us, quota) || !parse_number(period_us, period) || period == 0) return kNoLimit;
  return __builtin_mul_overflow(quota, std::uint64_t{1000}, &milli) ? kNoLimit : milli / period;
}

std::uint64_t parse_quota_v2(Text cpu_max) noexcept {
  const Text quota = cut(cpu_max, ' ');
  return parse_quota_v1(quota, cpu_max);
}

std::uint64_t parse_memory(Text limit) noexcept {
  std::uint64_t bytes = kNoLimit;
  return parse_number(limit, bytes) ? bytes : kNoLimit;
}

}  // namespace janus::kernel
