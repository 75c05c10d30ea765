// SPDX-License-Identifier: Apache-2.0
// initrd.h — the files that the loader put into memory: a cpio archive ("newc"), indexed once, then read in place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel-free/memory/memory_map.h"

namespace janus::bare {

struct Name {
  const char* text;
  std::size_t bytes;
};

// A file, a directory, or another entry of the archive.
struct Node {
  static constexpr std::uint32_t kTypeMask = 0170000, kDirectory = 0040000, kRegular = 0100000, kLink = 0120000,
                                 kBlockDevice = 0060000, kCharacterDevice = 0020000;

  Name path;  // without a leading slash; the root's is empty
  const char* data;
  std::uint64_t bytes;
  std::uint32_t inode, mode, links, modified;

  [[nodiscard]] std::uint32_t type() const { return mode & kTypeMask; }
};

// The longest name that a directory can hold, as on Linux.
inline constexpr std::size_t kMaxNameLength = 255;

// Nodes sorted by path, a slash before every other character: the contents of a directory follow it. [0] is the root.
// Of entries with the same path the last one counts; entries whose name no directory can hold are left out.
class Archive {
 public:
  enum class Opened : std::uint8_t { kYes, kDamaged, kNoMemory };
  // Indexes `archive`, which must stay readable from now on. Called once.
  [[nodiscard]] Opened open(const char* archive, std::size_t bytes) noexcept;

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const Node& operator[](std::size_t n) const { return nodes_[n]; }

  // The entry of that name in that directory; count() if there is none.
  [[nodiscard]] std::size_t find(std::size_t directory, Name name) const noexcept;
  [[nodiscard]] std::size_t parent(std::size_t node) const noexcept;
  // The first entry of a directory at or behind `from` (begin with the directory itself + 1); count() at the end.
  [[nodiscard]] std::size_t next_in(std::size_t directory, std::size_t from) const noexcept;
  // The node's name in its directory: the last part of its path.
  [[nodiscard]] Name name_of(std::size_t node) const noexcept;

 private:
  void sort() noexcept;
  void sift_down(std::size_t from, std::size_t end) noexcept;
  void keep_last_of_each() noexcept;
  void share_data_of_links() noexcept;

  Node* nodes_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace janus::bare
