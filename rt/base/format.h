// SPDX-License-Identifier: Apache-2.0
// rt/base/format.h — printf's formats into a bounded buffer: %d %i %u %o %x %X %b %B %c %s %p %%, and %e %f %g %a by
// floating.h; the flags - 0 + space #, width and precision (also *), hh h l ll z t j L. No locale, no errno, no
// allocation, so it may be called in a signal handler. An unknown directive is printed as written, with a mark, and its
// argument is skipped (docs/decisions/0290). The format and its strings may be a user's: they are read by accesses that
// may fail (arch/user_copy.h). docs/decisions/0193
#pragma once

#include <stdarg.h>

#include <cstddef>

namespace janus {

inline constexpr std::size_t kUnreadable = ~std::size_t{0};

// Bounds of the work of one call. The result is as in C if neither is reached.
struct FormatBounds {
  // Formatting stops after so many bytes of text. A longer string is treated as one of this length.
  std::size_t text = ~std::size_t{0};
  // The format and its strings are treated as if they ended after so many reads of a byte; each byte is read up to seven
  // times.
  std::size_t reads = ~std::size_t{0};
};
struct Formatted {
  std::size_t size;   // the length of the whole text, or at least bounds.text if it is longer; or kUnreadable
  std::size_t reads;  // the caller charges for these: reads of a byte, and floating_work()
};
// As janus_vformat(), within bounds.
Formatted vformat(char* buffer, std::size_t capacity, const FormatBounds& bounds, const char* format,
                  va_list arguments) noexcept;

}  // namespace janus

// As C's vsnprintf, but lengths are not limited to INT_MAX: writes at most `capacity` bytes, including the terminator,
// which is always written unless capacity is 0. Returns the length of the whole text; janus::kUnreadable if the format
// or a string cannot be read, and then the contents of the buffer are meaningless.
extern "C" std::size_t janus_vformat(char* buffer, std::size_t capacity, const char* format, va_list arguments);

namespace janus {

[[gnu::format(printf, 3, 4)]] std::size_t format_to(char* buffer, std::size_t capacity, const char* format,
                                                    ...) noexcept;

// Appends text to a buffer that it does not own. Text that does not fit is cut off, and is_cut() is true from then on.
class TextWriter {
 public:
  // Takes over the whole buffer. `capacity` is not 0.
  TextWriter(char* bytes, std::size_t capacity) noexcept : bytes_(bytes), capacity_(capacity) { bytes_[0] = '\0'; }
  [[gnu::format(printf, 2, 3)]] TextWriter& append(const char* format, ...) noexcept;
  [[gnu::format(printf, 2, 0)]] void vappend(const char* format, va_list arguments) noexcept;
  // Appends untrusted text within a line: bytes that are not printable ASCII become \xNN, so that it can neither begin
  // a new line nor control a terminal. Text of more than `most` bytes is cut, and ends in "...".
  TextWriter& append_escaped(const char* text, std::size_t most) noexcept;
  // Ends the line, also if it was cut off: the newline then replaces the last byte.
  TextWriter& end_line() noexcept;
  void clear() noexcept;

  [[nodiscard]] const char* data() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t room() const noexcept { return capacity_ - size_; }
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;

 protected:
  void take(const TextWriter& other) noexcept;

 private:
  char* bytes_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  bool is_cut_ = false;
};

// A TextWriter with a buffer of its own, for a line or two.
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
