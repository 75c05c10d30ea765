// SPDX-License-Identifier: Apache-2.0
// rt/base/format.h — printf's formats into a bounded buffer: %d %i %u %o %x %X %b %B %c %s %p %%, and %e %f %g %a by
// floating.h; the flags - 0 + space #, width and precision (also *), hh h l ll z t j L. No locale, no errno, no
// allocation: good in a signal handler. What it does not know it prints as written and marks, skipping its argument
// (docs/decisions/0290). The format and its strings may be a user's: they are read by accesses that may fail
// (arch/user_copy.h).
#pragma once

#include <stdarg.h>

#include <cstddef>

namespace janus {

inline constexpr std::size_t kUnreadable = ~std::size_t{0};

// How far a format is followed. What stays within both bounds comes out as C has it.
struct FormatBounds {
  // Behind so many bytes of text nothing is looked at any more. A string that is longer is taken to be so long.
  std::size_t text = ~std::size_t{0};
  // The format and its strings are taken to end after so many reads of a byte; each is read up to four times.
  std::size_t reads = ~std::size_t{0};
};
struct Formatted {
  std::size_t size;   // of the text; at least bounds.text if it goes beyond; kUnreadable
  std::size_t reads;  // bytes that were read, to be paid for
};
// janus_vformat() within bounds.
Formatted vformat(char* buffer, std::size_t capacity, const FormatBounds& bounds, const char* format,
                  va_list arguments) noexcept;

}  // namespace janus

// As C's vsnprintf, but that lengths do not end at INT_MAX: at most `capacity` bytes, the terminator included, which is
// always written unless capacity is 0. Gives the length that the whole text has; janus::kUnreadable where the format or
// a string is not to be read, and then what is in the buffer says nothing.
extern "C" std::size_t janus_vformat(char* buffer, std::size_t capacity, const char* format, va_list arguments);

namespace janus {

[[gnu::format(printf, 3, 4)]] std::size_t format_to(char* buffer, std::size_t capacity, const char* format,
                                                    ...) noexcept;

// Text being put together in a buffer of somebody else's. What does not fit is cut off; is_cut() tells.
class TextWriter {
 public:
  [[gnu::format(printf, 2, 3)]] TextWriter& append(const char* format, ...) noexcept;
  [[gnu::format(printf, 2, 0)]] void vappend(const char* format, va_list arguments) noexcept;
  // Somebody else's text, to be shown within a line: what is not printable ASCII becomes \xNN, so that it can neither
  // begin a line of its own nor steer a terminal. What would be more than `most` bytes ends in "...".
  TextWriter& append_escaped(const char* text, std::size_t most) noexcept;
  // The line ends here, also one that was cut off.
  TextWriter& end_line() noexcept;
  void clear() noexcept;

  [[nodiscard]] const char* data() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t room() const noexcept { return capacity_ - size_; }
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;

 protected:
  // All of the buffer is the writer's from now on.
  TextWriter(char* bytes, std::size_t capacity) noexcept : bytes_(bytes), capacity_(capacity) { bytes_[0] = '\0'; }
  void take(const TextWriter& other) noexcept;

 private:
  char* bytes_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  bool is_cut_ = false;
};

// A line or two.
template <std::size_t kCapacity>
class Text : public TextWriter {
 public:
  Text() noexcept : TextWriter(buffer_, kCapacity) {}
  Text(const Text& other) noexcept : TextWriter(buffer_, kCapacity) { take(other); }
  Text& operator=(const Text&) = delete;

 private:
  static_assert(kCapacity > 0);
  char buffer_[kCapacity];
};

}  // namespace janus
