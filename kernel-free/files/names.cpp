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

long walk_archive(FileRef& ref, const char* text) {
  if (g_archive.count() == 0) return kENOENT;
  std::size_t node = ref.number;
  Path path{text, {}, 0};
  for (long more; (more = next_name(path)) != 0;) {
    if (more < 0) return more;
    if (g_archive[node].type() == Node::kLink) return kELOOP;
    if (g_archive[node].type() != Node::kDirectory) return kENOTDIR;
    if (is_dots(path, 1)) continue;
    node = is_dots(path, 2) ? g_archive.parent(node) : g_archive.find(node, {path.name, path.bytes});
    if (node == g_archive.count()) return kENOENT;
  }
  ref.number = static_cast<std::uint32_t>(node);
  return 0;
}

// Finds the disk that the path names; false: none.
bool find_disk_of(const char* caller, FileRef& found) {
  char path[] = "/dev/vda";
  for (std::uint32_t nth = 0; nth < kMaxDisks; ++nth) {
    path[sizeof path - 2] = static_cast<char>('a' + nth);
    if (!is_text(caller, path)) continue;
    found = {FileRef::Kind::kDisk, nth};
    return find_disk(nth) != nullptr;
  }
  return false;
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

long walk(const FileRef& from, const char* path, FileRef& found) noexcept {
  char first;
  if (!copy_carefully(&first, path, 1)) return kEFAULT;
  found = kRoot;
  if (is_text(path, "/dev/null")) found.kind = FileRef::Kind::kNull;
  if (is_text(path, "/dev/zero")) found.kind = FileRef::Kind::kZero;
  if (found.is_null_or_zero()) return 0;
  if (first != '/') found = from;
  if (found.kind != FileRef::Kind::kNode) return kENOTDIR;
  const long error = walk_archive(found, path);
  return error == kENOENT && find_disk_of(path, found) ? 0 : error;
}

}  // namespace janus::bare
