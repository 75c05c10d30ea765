// SPDX-License-Identifier: Apache-2.0
#include "rt/base/format.h"

#include <bit>
#include <cstdint>
#include <limits>

#include <arch/user_copy.h>

#include "rt/base/floating.h"

namespace janus {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

// Reads the bytes of the format and of strings. Once a byte cannot be read, or the last allowed byte was read, every
// further read returns a terminator.
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
  // Counts other work as if so many bytes had been read.
  void count(std::size_t work) noexcept { count_ = most_ - count_ > work ? count_ + work : most_; }
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }
  [[nodiscard]] bool has_ended() const noexcept { return has_failed_ || count_ == most_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  std::size_t most_;
  std::size_t count_ = 0;
  bool has_failed_ = false;
};

// The buffer that the text is written to. Text that does not fit is counted, so that lengths are those of the whole
// text, until `bound` is reached.
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
  // If there is a reader, the bytes belong to the caller's string and are read through it.
  void put(const char* bytes, std::size_t count, Reader* reader) noexcept {
    const std::size_t room = room_for(count);
    for (std::size_t i = 0; i < room; ++i) {
      if (reader != nullptr && reader->has_ended()) {
        size_ += i;
        return;
      }
      buffer_[size_ + i] = reader != nullptr ? reader->read(bytes + i) : bytes[i];
    }
    size_ += count;
  }
  void fill(char byte, std::size_t count) noexcept {
    // So a width of two thousand million takes no longer than filling the buffer.
    const std::size_t room = room_for(count);
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

// Bits in the order of kFlags.
enum : unsigned { kLeft = 1, kZero = 2, kPlus = 4, kSpace = 8, kAlternative = 16 };
constexpr char kFlags[] = "-0+ #'";  // ' separates thousands, and has no effect: there is only the C locale

constexpr unsigned kLongDouble = 16;

// One directive: %[flags][width][.precision][length]conversion.
struct Directive {
  unsigned flags = 0;
  int width = 0;
  int precision = -1;  // none
  unsigned bytes = 4;  // the size of an integer, or kLongDouble
  bool is_long = false;
  char conversion = '\0';
};
// Holds a va_list, so that it can be passed by reference even where the ABI makes it an array.
struct Arguments {
  va_list list;
};

// ---- Parsing ------------------------------------------------------------------------------------------------------

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

const char* parse_flags(Reader& reader, const char* at, unsigned& flags) noexcept {
  for (;; ++at) {
    const char c = reader.read(at);
    unsigned flag = 0;
    while (kFlags[flag] != '\0' && kFlags[flag] != c) ++flag;
    if (kFlags[flag] == '\0') return at;
    flags |= 1u << flag;
  }
}

// Parses a number in the format, or takes it from the arguments for a *.
const char* parse_number(Reader& reader, const char* at, int& number, Arguments& arguments) noexcept {
  if (reader.read(at) == '*') {
    number = va_arg(arguments.list, int);
    return at + 1;
  }
  number = 0;
  for (char c; is_digit(c = reader.read(at)); ++at) {
    const int digit = c - '0';
    number = number > (kMaxInt - digit) / 10 ? kMaxInt : number * 10 + digit;
  }
  return at;
}

const char* parse_length(Reader& reader, const char* at, Directive& directive) noexcept {
  const char first = reader.read(at);
  const bool is_double = (first == 'h' || first == 'l') && reader.read(at + 1) == first;
  switch (first) {
    case 'h':
      directive.bytes = is_double ? 1 : 2;
      break;
    case 'l':
      directive.is_long = !is_double;
      [[fallthrough]];
    case 'z':
    case 'Z':
    case 't':
    case 'j':
    case 'q':
      directive.bytes = 8;
      break;
    case 'L':
      directive.bytes = kLongDouble;
      break;
    default:
      return at;
  }
  return at + (is_double ? 2 : 1);
}

const char* parse(Reader& reader, const char* at, Directive& directive, Arguments& arguments) noexcept {
  at = parse_flags(reader, at, directive.flags);
  at = parse_number(reader, at, directive.width, arguments);
  if (directive.width < 0) {
    directive.flags |= kLeft;
    directive.width = directive.width < -kMaxInt ? kMaxInt : -directive.width;
  }
  if (reader.read(at) == '.') at = parse_number(reader, at + 1, directive.precision, arguments);
  at = parse_length(reader, at, directive);
  directive.conversion = reader.read(at);
  return directive.conversion != '\0' ? at + 1 : at;
}

// ---- Printing -----------------------------------------------------------------------------------------------------

// The content of a directive's field: prefix, zeros, text with more zeros inserted.
struct Field {
  char prefix[4];  // a sign, 0x
  unsigned prefix_count = 0;
  bool takes_zeros = false;  // with the flag 0, zeros are written instead of the blanks before it
  const char* text = nullptr;
  std::size_t count = 0;
  std::size_t zeros = 0;
  std::size_t more_zeros = 0;
  std::size_t more_zeros_at = 0;

  void add_prefix(char byte) noexcept { prefix[prefix_count++] = byte; }
};

void add_sign(Field& field, const Directive& directive, bool is_negative) noexcept {
  if (is_negative)
    field.add_prefix('-');
  else if ((directive.flags & (kPlus | kSpace)) != 0)
    field.add_prefix((directive.flags & kPlus) != 0 ? '+' : ' ');
}

// If there is a reader, field.text is the caller's string.
void print_field(Sink& sink, const Directive& directive, Field& field, Reader* reader) noexcept {
  const std::size_t taken = field.prefix_count + field.zeros + field.count + field.more_zeros;
  const auto width = static_cast<std::size_t>(directive.width);
  std::size_t padding = width > taken ? width - taken : 0;
  if (field.takes_zeros && (directive.flags & (kZero | kLeft)) == kZero) {
    field.zeros += padding;
    padding = 0;
  }
  if ((directive.flags & kLeft) == 0) sink.fill(' ', padding);
  sink.put(field.prefix, field.prefix_count, nullptr);
  sink.fill('0', field.zeros);
  // A caller's string is read through the reader again: it may have been unmapped since it was measured.
  sink.put(field.text, field.more_zeros_at, reader);
  sink.fill('0', field.more_zeros);
  sink.put(field.text + field.more_zeros_at, field.count - field.more_zeros_at, reader);
  if ((directive.flags & kLeft) != 0) sink.fill(' ', padding);
}

void print_string(Sink& sink, Reader& reader, const Directive& directive, const char* text) noexcept {
  const bool has_precision = directive.precision >= 0;
  const std::size_t precision = static_cast<std::size_t>(directive.precision);
  if (text == nullptr) text = has_precision && precision < 6 ? "" : "(null)";
  const std::size_t most = has_precision && precision < sink.bound() ? precision : sink.bound();
  Field field;
  field.text = text;
  while (field.count < most && reader.read(text + field.count) != '\0') ++field.count;
  print_field(sink, directive, field, &reader);
}

void print_text(Sink& sink, const Directive& directive, const char* text, std::size_t count) noexcept {
  Field field;
  field.text = text;
  field.count = count;
  print_field(sink, directive, field, nullptr);
}

// Prints prefix, zeros up to the precision, and digits.
void print_number(Sink& sink, const Directive& directive, Field& field, std::uint64_t value, unsigned base) noexcept {
  char digits[64];
  char* first = digits + sizeof digits;
  for (std::uint64_t left = value; left != 0; left /= base) {
    const auto digit = static_cast<char>(left % base);
    *--first = static_cast<char>(digit < 10 ? '0' + digit : 'a' - 10 + digit - (~directive.conversion & 0x20));
  }
  field.text = first;
  field.count = static_cast<std::size_t>(digits + sizeof digits - first);
  const bool has_precision = directive.precision >= 0;
  const std::size_t least = has_precision ? static_cast<std::size_t>(directive.precision) : 1;
  if (least > field.count) field.zeros = least - field.count;
  if ((directive.flags & kAlternative) != 0 && base != 10) {
    if (base == 8) {
      if (field.zeros == 0) field.zeros = 1;
    } else if (value != 0) {
      field.add_prefix('0');
      field.add_prefix(directive.conversion);
    }
  }
  field.takes_zeros = !has_precision;
  print_field(sink, directive, field, nullptr);
}

// Not inlined because of its large frame.
[[gnu::noinline]] void print_floating(Sink& sink, Reader& reader, const Directive& directive, double value) noexcept {
  constexpr int kSignBit = 63;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  reader.count(floating_work(bits));
  char text[kMaxFloatingText];
  Field field;
  field.text = text;
  field.count = write_floating(text, bits, directive.conversion, directive.precision,
                               (directive.flags & kAlternative) != 0, &field.more_zeros_at, &field.more_zeros);
  field.takes_zeros = text[0] <= '9';
  add_sign(field, directive, bits >> kSignBit != 0);
  if (field.takes_zeros && (directive.conversion | 0x20) == 'a') {
    field.add_prefix('0');
    field.add_prefix(static_cast<char>(directive.conversion + 'x' - 'a'));
  }
  print_field(sink, directive, field, nullptr);
}

// Prints a directive whose argument is not a double: on this machine every such argument is passed in a word. Returns
// false if the directive is unknown.
bool print_word(Sink& sink, Reader& reader, Directive& directive, std::uint64_t word) noexcept {
  const unsigned unused = directive.bytes < 8 ? 64 - 8 * directive.bytes : 0;
  const auto number = static_cast<std::int64_t>(word << unused) >> unused;
  const std::uint64_t bits = word << unused >> unused;
  Field field;
  switch (directive.conversion) {
    case 'd':
    case 'i':
      add_sign(field, directive, number < 0);
      print_number(sink, directive, field, number < 0 ? 0 - static_cast<std::uint64_t>(number) : bits, 10);
      return true;
    case 'u':
      print_number(sink, directive, field, bits, 10);
      return true;
    case 'o':
      print_number(sink, directive, field, bits, 8);
      return true;
    case 'b':
    case 'B':
      print_number(sink, directive, field, bits, 2);
      return true;
    case 'x':
    case 'X':
      print_number(sink, directive, field, bits, 16);
      return true;
    case 'p':
      if (word == 0) {
        print_text(sink, directive, "(nil)", 5);
      } else {
        directive.flags |= kAlternative;
        directive.conversion = 'x';
        add_sign(field, directive, false);
        print_number(sink, directive, field, word, 16);
      }
      return true;
    default:
      break;
  }
  if (directive.is_long) return false;  // wide characters are not text here
  if (directive.conversion == 's') {
    print_string(sink, reader, directive, reinterpret_cast<const char*>(word));
    return true;
  }
  if (directive.conversion != 'c') return false;
  const char byte = static_cast<char>(word);
  print_text(sink, directive, &byte, 1);
  return true;
}

constexpr std::uint64_t letters(const char* which) noexcept {
  return *which != '\0' ? std::uint64_t{1} << (*which - 'A') | letters(which + 1) : 0;
}
constexpr std::uint64_t kTakesDouble = letters("AEFGaefg"), kTakesWord = letters("BCISXbcdinopsux");

bool is_among(char conversion, std::uint64_t which) noexcept {
  const unsigned letter = static_cast<unsigned char>(conversion) - unsigned{'A'};
  return letter < 64 && (which >> letter & 1) != 0;
}

// Prints the directive whose '%' is just before `at`; returns the address behind the directive.
const char* print_directive(Sink& sink, Reader& reader, const char* at, Arguments& arguments) noexcept {
  const char* const start = at - 1;
  Directive directive;
  at = parse(reader, at, directive, arguments);
  if (directive.conversion == '%') {
    sink.put('%');
  } else if (is_among(directive.conversion, kTakesDouble)) {
    const bool is_long = directive.bytes == kLongDouble;
    const double value =
        is_long ? static_cast<double>(va_arg(arguments.list, long double)) : va_arg(arguments.list, double);
    print_floating(sink, reader, directive, value);
  } else if (!is_among(directive.conversion, kTakesWord) ||
             !print_word(sink, reader, directive, va_arg(arguments.list, std::uint64_t))) {
    // An unknown directive is printed as written, with a mark so that it is not taken for text.
    sink.put(start, static_cast<std::size_t>(at - start), &reader);
    if (directive.conversion != '\0') print_text(sink, directive, "(not printed)", 13);
  }
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
