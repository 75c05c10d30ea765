// SPDX-License-Identifier: Apache-2.0
// rt/base/format.h — printf's integer and string formats into a bounded buffer: %d %i %u %o %x %X %c %s %p %%, the
// flags
// - 0 + space #, width and precision (also *), hh h l ll z t j. No locale, no floating point, no errno, no allocation:
// good in a signal handler. What it does not know it prints as written, skipping its argument. The format and its
// strings may be a user's: they are read by accesses that may fail (arch/user_copy.h).
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

// A line or two being put together. What does not fit is cut off; is_cut() tells.
template <std::size_t kCapacity>
class Text {
 public:
  Text() noexcept { bytes_[0] = '\0'; }

  [[gnu::format(printf, 2, 3)]] Text& append(const char* format, ...) noexcept {
    va_list arguments;
    va_start(arguments, format);
    vappend(format, arguments);
    va_end(arguments);
    return *this;
  }

  [[gnu::format(printf, 2, 0)]] void vappend(const char* format, va_list arguments) noexcept {
    const std::size_t room = kCapacity - size_;
    const std::size_t wanted = vformat(bytes_ + size_, room, {.text = room}, format, arguments).size;
    is_cut_ = is_cut_ || wanted >= room;
    size_ += wanted < room ? wanted : room - 1;
  }

  // Somebody else's text, to be shown within a line: what is not printable ASCII becomes \xNN, so that it can neither
  // begin a line of its own nor steer a terminal. What would be more than `most` bytes ends in "...".
  Text& append_escaped(const char* text, std::size_t most) noexcept {
    for (std::size_t shown = 0; *text != '\0'; ++text) {
      const auto byte = static_cast<unsigned char>(*text);
      const bool is_printable = byte >= ' ' && byte <= '~';
      shown += is_printable ? 1 : 4;
      if (shown > most) return append("...");
      append(is_printable ? "%c" : "\\x%02x", byte);
    }
    return *this;
  }

  // The line ends here, also one that was cut off.
  Text& end_line() noexcept {
    if (size_ + 1 == kCapacity) --size_;
    return append("\n");
  }

  void clear() noexcept {
    size_ = 0;
    is_cut_ = false;
    bytes_[0] = '\0';
  }

  [[nodiscard]] const char* data() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

 private:
  static_assert(kCapacity > 0);
  std::size_t size_ = 0;
  bool is_cut_ = false;
  char bytes_[kCapacity];
};

}  // namespace janus
