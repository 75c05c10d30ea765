// SPDX-License-Identifier: Apache-2.0
// names.cpp — see names.h.
#include "kernel-free/files/names.h"

#include "kernel-free/devices/errors.h"
#include "kernel-free/traps/careful_copy.h"

namespace janus::bare {

Archive g_archive;

namespace {

struct Path {
  const char* at;  // the caller's memory
  char name[kMaxNameLength];
  std::size_t bytes;
};

// Reads the next part of the path into `name`. Returns 1; 0 at the path's end; else an error.
long next_name(Path& path) {
  char c;
  path.bytes = 0;
  for (;; ++path.at) {
    if (!copy_carefully(&c, path.at, 1)) return kEFAULT;
    if (c == '/' && path.bytes == 0) continue;
    if (c == '/' || c == '\0') return path.bytes != 0;
    if (path.bytes == sizeof path.name) return kENAMETOOLONG;
    path.name[path.bytes++] = c;
  }
}

bool is_dots(const Path& path, std::size_t count) {
  if (path.bytes != count) return false;
  for (std::size_t n = 0; n < count; ++n)
    if (path.name[n] != '.') return false;
  return true;
}

bool is_text(const char* caller, const char* text) {
  char c;
  do
    if (!copy_carefully(&c, caller++, 1) || c != *text) return false;
  while (*text++ != '\0');
  return true;
}

Resolved resolve_in_archive(std::size_t node, const char* text) {
  if (g_archive.count() == 0) return {kENOENT, {}};
  Path path{text, {}, 0};
  for (long more; (more = next_name(path)) != 0;) {
    if (more < 0) return {more, {}};
    if (g_archive[node].type() == Node::kLink) return {kELOOP, {}};
    if (g_archive[node].type() != Node::kDirectory) return {kENOTDIR, {}};
    if (is_dots(path, 1)) continue;
    node = is_dots(path, 2) ? g_archive.parent(node) : g_archive.find(node, {path.name, path.bytes});
    if (node == g_archive.count()) return {kENOENT, {}};
  }
  return {0, {FileRef::Kind::kNode, static_cast<std::uint32_t>(node)}};
}

Resolved resolve_disk(const char* caller) {
  char path[] = "/dev/vda";
  for (std::uint32_t nth = 0; nth < kMaxDisks; ++nth) {
    path[sizeof path - 2] = static_cast<char>('a' + nth);
    if (!is_text(caller, path)) continue;
    if (find_disk(nth) != nullptr) return {0, {FileRef::Kind::kDisk, nth}};
  }
  return {kENOENT, {}};
}

}  // namespace

std::uint32_t type_of(const FileRef& ref) noexcept {
  switch (ref.kind) {
    case FileRef::Kind::kNode:
      return g_archive[ref.number].type();
    case FileRef::Kind::kDisk:
      return Node::kBlockDevice;
    default:
      return Node::kCharacterDevice;
  }
}

std::uint64_t size_of(const FileRef& ref) noexcept {
  if (ref.is_null_or_zero()) return 0;
  return ref.kind == FileRef::Kind::kDisk ? bytes_of(disk_at(ref.number)) : g_archive[ref.number].bytes;
}

Resolved resolve(FileRef from, const char* path) noexcept {
  char first;
  if (!copy_carefully(&first, path, 1)) return {kEFAULT, {}};
  if (is_text(path, "/dev/null")) return {0, {FileRef::Kind::kNull, 0}};
  if (is_text(path, "/dev/zero")) return {0, {FileRef::Kind::kZero, 0}};
  const FileRef start = first == '/' ? kRoot : from;
  if (start.kind != FileRef::Kind::kNode) return {kENOTDIR, {}};
  const Resolved in_archive = resolve_in_archive(start.number, path);
  return in_archive.error == kENOENT ? resolve_disk(path) : in_archive;
}

}  // namespace janus::bare
