// SPDX-License-Identifier: Apache-2.0
// arch/linux/files/files.h — reads the kernel's small files. A file that is absent or forbidden is an ordinary case.
#pragma once

#include <cstddef>

#include "arch/linux/files/text.h"

namespace janus::kernel {

// Fills `buffer` from the start of the file at `path`; the bytes read, or -errno.
[[nodiscard]] long read_file(const char* path, char* buffer, std::size_t room) noexcept;

// The first kRoom bytes of a file, in a buffer on the caller's stack.
template <std::size_t kRoom>
class FileText {
 public:
  [[nodiscard]] bool read(const char* path) noexcept {
    bytes_ = read_file(path, buffer_, kRoom);
    return bytes_ >= 0;
  }
  [[nodiscard]] Text view() const { return {buffer_, static_cast<std::size_t>(bytes_)}; }

 private:
  char buffer_[kRoom];
  long bytes_ = 0;
};

// Reads a file line by line through a buffer of the caller's. A line longer than the buffer is skipped.
class Lines {
 public:
  Lines(const char* path, char* buffer, std::size_t room) noexcept;
  ~Lines();
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  // The next line without its newline, valid until the next call; false at the end of the file.
  [[nodiscard]] bool next(Text& line) noexcept;

 private:
  [[nodiscard]] bool refill() noexcept;

  long fd_;
  char* buffer_;
  std::size_t room_, begin_ = 0, end_ = 0;
  bool skipping_ = false;
};

}  // namespace janus::kernel
