// SPDX-License-Identifier: Apache-2.0
// names.h — resolves paths: /dev/null and /dev/zero, with or without an initrd; the initrd's files; and if it has no
// file of that name, /dev/vda to /dev/vdh, the disks. Symbolic links are not followed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel-free/devices/disk.h"
#include "kernel-free/files/initrd.h"

namespace janus::bare {

// The file or device of a descriptor or path. One word, so that a concurrent reader gets the old or the new value.
struct alignas(8) FileRef {
  enum class Kind : std::uint32_t { kNone, kNode, kNull, kZero, kDisk };

  Kind kind;
  std::uint32_t number;  // of a node of the archive, or of a disk that find_disk() has given

  [[nodiscard]] bool is_null_or_zero() const { return kind == Kind::kNull || kind == Kind::kZero; }
};
inline constexpr FileRef kRoot{FileRef::Kind::kNode, 0};

// Constant once the first thread runs.
extern Archive g_archive;

// The type bits of a file's mode: Node::kDirectory and its like.
[[nodiscard]] std::uint32_t type_of(const FileRef& ref) noexcept;
[[nodiscard]] std::uint64_t size_of(const FileRef& ref) noexcept;

struct Resolved {
  long error;  // 0: `ref` is valid
  FileRef ref;
};
// Resolves a path, a relative one from `from`; the path is in a caller's memory. Finds disks, too, so a program that
// names no files contains none of the code for them.
[[nodiscard]] Resolved resolve(FileRef from, const char* path) noexcept;

}  // namespace janus::bare
