// SPDX-License-Identifier: Apache-2.0
#include "rt/base/format.h"

#include <cstdint>
#include <limits>

#include <arch/user_copy.h>

namespace janus {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

// Bytes of the format and of strings. Where one is not to be read, or the last allowed one was, all is over: what
// follows reads as terminators.
class Reader {
 public:
  explicit Reader(std::size_t most) noexcept : most_(most) {}

  char read(const char* at) noexcept {
    std::uint8_t byte = 0;
    if (has_ended()) return '\0';
    ++count_;
    if (!arch::load_user(at, byte)) has_failed_ = true;
    return static_cast<char>(byte);
  }
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }
  [[nodiscard]] bool has_ended() const noexcept { return has_failed_ || count_ == most_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  std::size_t most_;
  std::size_t count_ = 0;
  bool has_failed_ = false;
};

// Where the text goes. Counts what does not fit, so that lengths come out as if there were room, until it is full.
class Sink {
 public:
  Sink(char* buffer, std::size_t capacity, std::size_t bound) noexcept
      : buffer_(buffer), capacity_(capacity), bound_(bound) {}

  [[nodiscard]] std::size_t bound() const noexcept { return bound_; }
  [[nodiscard]] bool is_full() const noexcept { return size_ >= bound_; }

  void put(char byte) noexcept {
    if (size_ < capacity_) buffer_[size_] = byte;
    ++size_;
  }
  void put(const char* bytes, std::size_t count) noexcept {
    const std::size_t room = room_for(count);
    for (std::size_t i = 0; i < room; ++i) buffer_[size_ + i] = bytes[i];
    size_ += count;
  }
  void put(Reader& reader, const char* bytes, std::size_t count) noexcept {
    const std::size_t room = room_for(count);
    for (std::size_t i = 0; i < room; ++i) {
      if (reader.has_ended()) {
        size_ += i;
        return;
      }
      buffer_[size_ + i] = reader.read(bytes + i);
    }
    size_ += count;
  }
  void fill(char byte, std::size_t count) noexcept {
    const std::size_t room = room_for(count);  // a width of two thousand millions costs nothing
    for (std::size_t i = 0; i < room; ++i) buffer_[size_ + i] = byte;
    size_ += count;
  }

  std::size_t finish() noexcept {
    if (capacity_ != 0) buffer_[size_ < capacity_ ? size_ : capacity_ - 1] = '\0';
    return size_;
  }

 private:
  [[nodiscard]] std::size_t room_for(std::size_t count) const noexcept {
    const std::size_t room = size_ < capacity_ ? capacity_ - size_ : 0;
    return count < room ? count : room;
  }

  char* buffer_;
  std::size_t capacity_;
  std::size_t bound_;
  std::size_t size_ = 0;
};

enum class Length : std::uint8_t { kInt, kChar, kShort, kLong, kLongLong, kLongDouble };

// One directive: %[flags][width][.precision][length]conversion.
struct Directive {
  bool left = false, zero = false, plus = false, space = false, alternative = false;
  int width = 0;
  int precision = -1;  // none
  Length length = Length::kInt;
  char conversion = '\0';
};

// A va_list that can be handed on by reference whatever the ABI makes of it.
struct Arguments {
  va_list list;
};

// ---- Parsing ------------------------------------------------------------------------------------------------------

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

const char* parse_number(Reader& reader, const char* at, int& number) noexcept {
  number = 0;
  for (char c; is_digit(c = reader.read(at)); ++at) {
    const int digit = c - '0';
    number = number > (kMaxInt - digit) / 10 ? kMaxInt : number * 10 + digit;
  }
  return at;
}

const char* parse_flags(Reader& reader, const char* at, Directive& directive) noexcept {
  for (;; ++at) {
    switch (reader.read(at)) {
      case '-':
        directive.left = true;
        break;
      case '0':
        directive.zero = true;
        break;
      case '+':
        directive.plus = true;
        break;
      case ' ':
        directive.space = true;
        break;
      case '#':
        directive.alternative = true;
        break;
      case '\'':  // thousands apart: the only language here does not part them
        break;
      default:
        return at;
    }
  }
}

const char* parse_width(Reader& reader, const char* at, Directive& directive, Arguments& arguments) noexcept {
  if (reader.read(at) != '*') return parse_number(reader, at, directive.width);
  const int width = va_arg(arguments.list, int);
  directive.left = directive.left || width < 0;
  if (width >= 0) {
    directive.width = width;
  } else {
    directive.width = width == -kMaxInt - 1 ? kMaxInt : -width;
  }
  return at + 1;
}

const char* parse_precision(Reader& reader, const char* at, Directive& directive, Arguments& arguments) noexcept {
  if (reader.read(at) != '.') return at;
  ++at;
  if (reader.read(at) != '*') return parse_number(reader, at, directive.precision);
  directive.precision = va_arg(arguments.list, int);  // negative: as if there were none
  return at + 1;
}

const char* parse_length(Reader& reader, const char* at, Length& length) noexcept {
  const char first = reader.read(at);
  const bool is_double = (first == 'h' || first == 'l') && reader.read(at + 1) == first;
  switch (first) {
    case 'h':
      length = is_double ? Length::kChar : Length::kShort;
      return at + (is_double ? 2 : 1);
    case 'l':
      length = is_double ? Length::kLongLong : Length::kLong;
      return at + (is_double ? 2 : 1);
    case 'z':
    case 'Z':
    case 't':
    case 'j':
    case 'q':
      length = Length::kLongLong;  // as wide
      return at + 1;
    case 'L':
      length = Length::kLongDouble;
      return at + 1;
    default:
      return at;
  }
}

// ---- Fetching arguments -------------------------------------------------------------------------------------------

std::int64_t next_signed(Arguments& arguments, Length length) noexcept {
  switch (length) {
    case Length::kChar:
      return static_cast<signed char>(va_arg(arguments.list, int));
    case Length::kShort:
      return static_cast<short>(va_arg(arguments.list, int));
    case Length::kInt:
      return va_arg(arguments.list, int);
    default:
      return va_arg(arguments.list, std::int64_t);  // all others are 64 bits on this machine
  }
}

std::uint64_t next_unsigned(Arguments& arguments, Length length) noexcept {
  switch (length) {
    case Length::kChar:
      return static_cast<unsigned char>(va_arg(arguments.list, unsigned));
    case Length::kShort:
      return static_cast<unsigned short>(va_arg(arguments.list, unsigned));
    case Length::kInt:
      return va_arg(arguments.list, unsigned);
    default:
      return va_arg(arguments.list, std::uint64_t);
  }
}

// ---- Printing -----------------------------------------------------------------------------------------------------

// `text` in a field of the directive's width.
void print_padded(Sink& sink, const Directive& directive, const char* text, std::size_t count) noexcept {
  const std::size_t width = static_cast<std::size_t>(directive.width);
  const std::size_t padding = width > count ? width - count : 0;
  if (!directive.left) sink.fill(' ', padding);
  sink.put(text, count);
  if (directive.left) sink.fill(' ', padding);
}

void print_string(Sink& sink, Reader& reader, const Directive& directive, const char* text) noexcept {
  const bool has_precision = directive.precision >= 0;
  const std::size_t precision = static_cast<std::size_t>(directive.precision);
  if (text == nullptr) text = has_precision && precision < 6 ? "" : "(null)";
  const std::size_t most = has_precision && precision < sink.bound() ? precision : sink.bound();
  std::size_t count = 0;
  while (count < most && reader.read(text + count) != '\0') ++count;
  const std::size_t width = static_cast<std::size_t>(directive.width);
  const std::size_t padding = width > count ? width - count : 0;
  if (!directive.left) sink.fill(' ', padding);
  sink.put(reader, text, count);  // somebody may have taken it away since
  if (directive.left) sink.fill(' ', padding);
}

struct Number {
  char digits[22];  // 2^64 in octal
  unsigned count = 0;
  const char* prefix = "";
  unsigned prefix_count = 0;
};

void write_digits(Number& number, std::uint64_t value, unsigned base, bool is_upper) noexcept {
  const char* const digits = is_upper ? "0123456789ABCDEF" : "0123456789abcdef";
  char reversed[sizeof number.digits];
  for (; value != 0; value /= base) reversed[number.count++] = digits[value % base];
  for (unsigned i = 0; i < number.count; ++i) number.digits[i] = reversed[number.count - 1 - i];
}

// Field: padding, prefix, zeros up to the precision, digits.
void print_number(Sink& sink, const Directive& directive, const Number& number) noexcept {
  const bool has_precision = directive.precision >= 0;
  const std::size_t least = has_precision ? static_cast<std::size_t>(directive.precision) : 1;
  std::size_t zeros = least > number.count ? least - number.count : 0;
  std::size_t taken = number.prefix_count + zeros + number.count;
  const std::size_t width = static_cast<std::size_t>(directive.width);
  if (directive.zero && !directive.left && !has_precision && width > taken) {
    zeros += width - taken;
    taken = width;
  }
  const std::size_t padding = width > taken ? width - taken : 0;
  if (!directive.left) sink.fill(' ', padding);
  sink.put(number.prefix, number.prefix_count);
  sink.fill('0', zeros);
  sink.put(number.digits, number.count);
  if (directive.left) sink.fill(' ', padding);
}

void set_prefix(Number& number, const char* prefix, unsigned count) noexcept {
  number.prefix = prefix;
  number.prefix_count = count;
}

void print_signed(Sink& sink, const Directive& directive, std::int64_t value) noexcept {
  Number number;
  const std::uint64_t bits = static_cast<std::uint64_t>(value);
  write_digits(number, value < 0 ? 0 - bits : bits, 10, false);
  if (value < 0) {
    set_prefix(number, "-", 1);
  } else if (directive.plus) {
    set_prefix(number, "+", 1);
  } else if (directive.space) {
    set_prefix(number, " ", 1);
  }
  print_number(sink, directive, number);
}

void print_hex(Sink& sink, const Directive& directive, std::uint64_t value, bool is_upper) noexcept {
  Number number;
  write_digits(number, value, 16, is_upper);
  if (directive.alternative && value != 0) set_prefix(number, is_upper ? "0X" : "0x", 2);
  print_number(sink, directive, number);
}

void print_octal(Sink& sink, Directive directive, std::uint64_t value) noexcept {
  Number number;
  write_digits(number, value, 8, false);
  // The alternative form begins with a zero: the precision's, if it gives one, or else one more digit.
  const bool has_zero = directive.precision > static_cast<int>(number.count) || (value == 0 && directive.precision < 0);
  if (directive.alternative && !has_zero) set_prefix(number, "0", 1);
  print_number(sink, directive, number);
}

void print_pointer(Sink& sink, Directive directive, const void* pointer) noexcept {
  if (pointer == nullptr) return print_padded(sink, directive, "(nil)", 5);
  Number number;
  write_digits(number, reinterpret_cast<std::uintptr_t>(pointer), 16, false);
  const char* const prefix = directive.plus ? "+0x" : directive.space ? " 0x" : "0x";
  set_prefix(number, prefix, directive.plus || directive.space ? 3 : 2);
  print_number(sink, directive, number);
}

bool is_floating(char conversion) noexcept {
  const char lower = static_cast<char>(conversion | 0x20);
  return lower == 'a' || (lower >= 'e' && lower <= 'g');
}

constexpr std::uint64_t letters(const char* which) noexcept {
  return *which != '\0' ? std::uint64_t{1} << (*which - 'A') | letters(which + 1) : 0;
}
constexpr std::uint64_t kTakesWord = letters("BCISbcns");

// Steps over the argument of a directive that we do not know, if its kind can be told.
void skip_argument(const Directive& directive, Arguments& arguments) noexcept {
  if (is_floating(directive.conversion)) {
    const bool is_long = directive.length == Length::kLongDouble;
    (void)(is_long ? va_arg(arguments.list, long double) : va_arg(arguments.list, double));
    return;
  }
  // A wide character or an integer takes the same place as a pointer.
  const unsigned letter = static_cast<unsigned>(directive.conversion) - 'A';
  if (letter < 64 && (kTakesWord >> letter & 1) != 0) (void)va_arg(arguments.list, void*);
}

// What we do not know stays as it was written.
void print_unknown(Sink& sink, Reader& reader, const Directive& directive, Arguments& arguments, const char* from,
                   const char* to) noexcept {
  skip_argument(directive, arguments);
  sink.put(reader, from, static_cast<std::size_t>(to - from));
}

// False: not one of ours.
bool print_known(Sink& sink, Reader& reader, const Directive& directive, Arguments& arguments) noexcept {
  const bool is_long = directive.length == Length::kLong;  // wide characters are not text here
  switch (directive.conversion) {
    case '%':
      sink.put('%');
      return true;
    case 'd':
    case 'i':
      print_signed(sink, directive, next_signed(arguments, directive.length));
      return true;
    case 'u': {
      Number number;
      write_digits(number, next_unsigned(arguments, directive.length), 10, false);
      print_number(sink, directive, number);
      return true;
    }
    case 'o':
      print_octal(sink, directive, next_unsigned(arguments, directive.length));
      return true;
    case 'x':
      print_hex(sink, directive, next_unsigned(arguments, directive.length), false);
      return true;
    case 'X':
      print_hex(sink, directive, next_unsigned(arguments, directive.length), true);
      return true;
    case 'p':
      print_pointer(sink, directive, va_arg(arguments.list, void*));
      return true;
    case 's':
      if (is_long) return false;
      print_string(sink, reader, directive, va_arg(arguments.list, const char*));
      return true;
    case 'c': {
      if (is_long) return false;
      const char byte = static_cast<char>(va_arg(arguments.list, int));
      print_padded(sink, directive, &byte, 1);
      return true;
    }
    default:
      return false;
  }
}

// `at` stands behind a '%'; gives what follows the directive.
const char* print_directive(Sink& sink, Reader& reader, const char* at, Arguments& arguments) noexcept {
  const char* const start = at - 1;
  Directive directive;
  at = parse_flags(reader, at, directive);
  at = parse_width(reader, at, directive, arguments);
  at = parse_precision(reader, at, directive, arguments);
  at = parse_length(reader, at, directive.length);
  directive.conversion = reader.read(at);
  if (directive.conversion != '\0') ++at;
  if (!print_known(sink, reader, directive, arguments)) print_unknown(sink, reader, directive, arguments, start, at);
  return at;
}

}  // namespace

Formatted vformat(char* buffer, std::size_t capacity, const FormatBounds& bounds, const char* format,
                  va_list list) noexcept {
  Sink sink(buffer, capacity, bounds.text);
  Reader reader(bounds.reads);
  Arguments arguments;
  va_copy(arguments.list, list);
  while (!reader.has_ended() && !sink.is_full()) {
    const char next = reader.read(format);
    if (next == '\0') break;
    ++format;
    if (next == '%')
      format = print_directive(sink, reader, format, arguments);
    else
      sink.put(next);
  }
  va_end(arguments.list);
  const std::size_t size = sink.finish();
  return {reader.has_failed() ? kUnreadable : size, reader.count()};
}

std::size_t format_to(char* buffer, std::size_t capacity, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  const std::size_t size = janus_vformat(buffer, capacity, format, arguments);
  va_end(arguments);
  return size;
}

}  // namespace janus

extern "C" std::size_t janus_vformat(char* buffer, std::size_t capacity, const char* format, va_list list) {
  return janus::vformat(buffer, capacity, {}, format, list).size;
}
