// SPDX-License-Identifier: Apache-2.0
// arch/linux/files/files.cpp — see files.h.
#include "arch/linux/files/files.h"

#include "arch/linux/kernel_call.h"

namespace janus::kernel {
namespace {

long open_to_read(const char* path) {
  return call_again(kOpenat, kAtCwd, path, kOpenCloexec, 0);
}

}  // namespace

long read_file(const char* path, char* buffer, std::size_t room) noexcept {
  const long fd = open_to_read(path);
  if (failed(fd)) return fd;
  std::size_t have = 0;
  long got = 0;
  do {
    got = call_again(kRead, fd, buffer + have, room - have);
    if (!failed(got)) have += static_cast<std::size_t>(got);
  } while (!failed(got) && got != 0 && have < room);
  call(kClose, fd);
  return failed(got) ? got : static_cast<long>(have);
}

Lines::Lines(const char* path, char* buffer, std::size_t room) noexcept
    : fd_(open_to_read(path)), buffer_(buffer), room_(room) {}

Lines::~Lines() {
  if (!failed(fd_)) call(kClose, fd_);
}

// Moves the unread bytes to the front of the buffer and reads more behind them. False: the file has no more.
bool Lines::refill() noexcept {
  for (std::size_t i = begin_; i < end_; ++i) buffer_[i - begin_] = buffer_[i];
  end_ -= begin_;
  begin_ = 0;
  if (end_ == room_) {  // one line fills the buffer: drops this part, and later its rest
    end_ = 0;
    skipping_ = true;
  }
  const long got = call_again(kRead, fd_, buffer_ + end_, room_ - end_);
  if (failed(got) || got == 0) return false;
  end_ += static_cast<std::size_t>(got);
  return true;
}

bool Lines::next(Text& line) noexcept {
  if (failed(fd_)) return false;
  std::size_t looked = 0;
  for (;;) {
    for (std::size_t i = begin_ + looked; i < end_; ++i) {
      if (buffer_[i] != '\n') continue;
      line = {buffer_ + begin_, i - begin_};
      begin_ = i + 1;
      if (!skipping_) return true;
      skipping_ = false;
      looked = 0;
      i = begin_ - 1;
    }
    looked = end_ - begin_;
    if (!refill()) break;
    if (skipping_) looked = 0;
  }
  line = {buffer_ + begin_, end_ - begin_};
  const bool last = !line.is_empty() && !skipping_;
  begin_ = end_;
  return last;
}

}  // namespace janus::kernel
