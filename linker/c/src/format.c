// SPDX-License-Identifier: Apache-2.0
// format.c: the snprintf family, as C defines it. A long double is printed as the nearest double, and a wide character
// only if it is ASCII. Arguments are always taken in order: %1$d is printed as written. docs/decisions/0193
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "linker/c/src/define.h"
#include "linker/c/src/pay.h"

// The buffer that the text is written to. `length` is the length of the whole text and may exceed `room`; only what
// fits is stored.
struct sink {
  char* to;
  size_t room, length;
};

enum { kLeft = 1, kPlus = 2, kSpace = 4, kAlternate = 8, kZero = 16, kIgnored = 32 };

// One conversion: %[flags][width][.precision][size]letter. precision < 0: not given.
struct conversion {
  unsigned flags;
  int width, precision;
  char size;  // 'H' for hh, 'q' for ll, else the letter itself or 0
  char letter;
};

// Returns how many of `count` bytes there is room for.
static size_t fitting(const struct sink* sink, size_t count) {
  const size_t left = sink->length < sink->room ? sink->room - sink->length : 0;
  return count < left ? count : left;
}

static void put(struct sink* sink, const char* text, size_t count) {
  const size_t fits = fitting(sink, count);
  for (size_t done = 0, piece; done < fits; done += piece) {
    piece = janus_next_piece(fits - done);
    memcpy(sink->to + sink->length + done, text + done, piece);
  }
  sink->length += count;
}

static void fill(struct sink* sink, char c, long count) {
  if (count <= 0) return;
  const size_t fits = fitting(sink, (size_t)count);
  for (size_t done = 0, piece; done < fits; done += piece) {
    piece = janus_next_piece(fits - done);
    memset(sink->to + sink->length + done, c, piece);
  }
  sink->length += (size_t)count;
}

// Writes a prefix (a sign, 0x), zeroes and the text, padded with blanks to the width.
static void put_padded(struct sink* sink, const struct conversion* c, const char* prefix, long zeroes, const char* text,
                       size_t count) {
  const size_t prefix_count = strlen(prefix);
  const long blanks = (long)c->width - zeroes - (long)(prefix_count + count);
  if (!(c->flags & kLeft)) fill(sink, ' ', blanks);
  put(sink, prefix, prefix_count);
  fill(sink, '0', zeroes);
  put(sink, text, count);
  if (c->flags & kLeft) fill(sink, ' ', blanks);
}

// Charges for text that is read element by element. Called after each element, with the number read so far.
static void pay_for_reading(size_t count) {
  enum { kReadsPerOp = 64 };
  if (count % kReadsPerOp == 0) janus_pay(1);
}

// --- Numbers ---------------------------------------------------------------------------------------------------------

// l, ll, j, z and t all mean 64 bits.
static intmax_t take_signed(const struct conversion* c, va_list* values) {
  switch (c->size) {
    case 0:
      return va_arg(*values, int);
    case 'H':
      return (signed char)va_arg(*values, int);
    case 'h':
      return (short)va_arg(*values, int);
    default:
      return va_arg(*values, long);
  }
}

static uintmax_t take_unsigned(const struct conversion* c, va_list* values) {
  switch (c->size) {
    case 0:
      return va_arg(*values, unsigned);
    case 'H':
      return (unsigned char)va_arg(*values, unsigned);
    case 'h':
      return (unsigned short)va_arg(*values, unsigned);
    default:
      return va_arg(*values, unsigned long);
  }
}

static void put_number(struct sink* sink, const struct conversion* c, const char* prefix, uintmax_t value,
                       unsigned base) {
  const char* digits = c->letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
  char text[64];
  char* first = text + sizeof text;
  for (uintmax_t left = value; left != 0; left /= base) *--first = digits[left % base];
  const long count = text + sizeof text - first;

  long zeroes = (c->precision < 0 ? 1 : c->precision) - count;
  if (c->flags & kAlternate && base == 8 && zeroes < 1) zeroes = count == 0 || *first != '0' ? 1 : 0;
  if (c->flags & kZero && !(c->flags & kLeft) && c->precision < 0) {
    const long to_width = (long)c->width - (long)strlen(prefix) - count;
    if (to_width > zeroes) zeroes = to_width;
  }
  put_padded(sink, c, prefix, zeroes < 0 ? 0 : zeroes, first, (size_t)count);
}

static void put_signed(struct sink* sink, const struct conversion* c, intmax_t value) {
  const char* sign = value < 0 ? "-" : c->flags & kPlus ? "+" : c->flags & kSpace ? " " : "";
  put_number(sink, c, sign, value < 0 ? 0 - (uintmax_t)value : (uintmax_t)value, 10);
}

static void put_hexadecimal(struct sink* sink, const struct conversion* c, uintmax_t value) {
  const char* prefix = !(c->flags & kAlternate) || value == 0 ? "" : c->letter == 'X' ? "0X" : "0x";
  put_number(sink, c, prefix, value, 16);
}

static void put_binary(struct sink* sink, const struct conversion* c, uintmax_t value) {
  const char* prefix = !(c->flags & kAlternate) || value == 0 ? "" : c->letter == 'B' ? "0B" : "0b";
  put_number(sink, c, prefix, value, 2);
}

static void put_pointer(struct sink* sink, struct conversion* c, const void* pointer) {
  c->flags |= kAlternate;
  if (pointer == NULL)
    put_padded(sink, c, "", 0, "(nil)", 5);
  else
    put_hexadecimal(sink, c, (uintptr_t)pointer);
}

// --- Text ------------------------------------------------------------------------------------------------------------

static void put_character(struct sink* sink, const struct conversion* c, va_list* values) {
  const unsigned value = va_arg(*values, unsigned);
  const char byte = (char)(c->size != 'l' || value < 128 ? value : (unsigned)'?');
  put_padded(sink, c, "", 0, &byte, 1);
}

static void put_string(struct sink* sink, const struct conversion* c, const char* text) {
  if (text == NULL) text = c->precision < 0 || c->precision >= 6 ? "(null)" : "";
  const size_t count = c->precision < 0 ? strlen(text) : strnlen(text, (size_t)c->precision);
  put_padded(sink, c, "", 0, text, count);
}

static void put_wide_string(struct sink* sink, const struct conversion* c, const wchar_t* text) {
  const size_t most = c->precision < 0 ? SIZE_MAX : (size_t)c->precision;
  size_t count = 0;
  while (count < most && text[count] != 0) pay_for_reading(++count);
  const long blanks = (long)c->width - (long)count;
  if (!(c->flags & kLeft)) fill(sink, ' ', blanks);
  for (size_t i = 0; i < count; i++) {
    if (i % kBytesPerOp == kBytesPerOp - 1) janus_pay(1);
    fill(sink, (char)(text[i] >= 0 && text[i] < 128 ? text[i] : '?'), 1);
  }
  if (c->flags & kLeft) fill(sink, ' ', blanks);
}

// A function of the runtime (rt/abi/system.cpp, rt/base/floating.h): writes the digits without sign and 0x, and returns
// their number. The caller has to insert `*zeros` zeros at `*zeros_at`. It charges the task for the work.
size_t janus_write_floating(char* text, uint64_t bits, char letter, int precision, _Bool keeps_point, size_t* zeros_at,
                            size_t* zeros);

__attribute__((noinline)) static void put_floating(struct sink* sink, const struct conversion* c, va_list* values) {
  enum { kMostText = 1096 };
  const double value = c->size == 'L' ? (double)va_arg(*values, long double) : va_arg(*values, double);
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  char text[kMostText];
  size_t zeros_at, zeros;
  const size_t count =
      janus_write_floating(text, bits, c->letter, c->precision, c->flags & kAlternate, &zeros_at, &zeros);
  const int is_finite = text[0] <= '9';

  char prefix[4] = "", *end = prefix;
  if (bits >> 63)
    *end++ = '-';
  else if (c->flags & (kPlus | kSpace))
    *end++ = c->flags & kPlus ? '+' : ' ';
  if (is_finite && (c->letter | 0x20) == 'a') {
    *end++ = '0';
    *end++ = (char)(c->letter + 'x' - 'a');
  }
  const size_t prefix_count = (size_t)(end - prefix);
  const long blanks = (long)c->width - (long)(prefix_count + count + zeros);
  const int takes_zeros = is_finite && c->flags & kZero;
  if (!(c->flags & kLeft) && !takes_zeros) fill(sink, ' ', blanks);
  put(sink, prefix, prefix_count);
  if (!(c->flags & kLeft) && takes_zeros) fill(sink, '0', blanks);
  put(sink, text, zeros_at);
  fill(sink, '0', (long)zeros);
  put(sink, text + zeros_at, count - zeros_at);
  if (c->flags & kLeft) fill(sink, ' ', blanks);
}

static void store_length(const struct sink* sink, const struct conversion* c, void* to) {
  switch (c->size) {
    case 'H':
      *(signed char*)to = (signed char)sink->length;
      break;
    case 'h':
      *(short*)to = (short)sink->length;
      break;
    case 0:
      *(int*)to = (int)sink->length;
      break;
    default:
      *(long*)to = (long)sink->length;
      break;
  }
}

// --- The format ------------------------------------------------------------------------------------------------------

static unsigned flag_of(char c) {
  switch (c) {
    case '-':
      return kLeft;
    case '+':
      return kPlus;
    case ' ':
      return kSpace;
    case '#':
      return kAlternate;
    case '0':
      return kZero;
    case '\'':  // asks for separators between thousands, and 'I' for the locale's digits; the C locale has neither
    case 'I':
      return kIgnored;
    default:
      return 0;
  }
}

// Parses a number in the format, or takes it from the values for a *.
static int parse_count(const char** at, va_list* values) {
  if (**at == '*') {
    ++*at;
    return va_arg(*values, int);
  }
  int count = 0;
  for (size_t read = 0; **at >= '0' && **at <= '9'; ++*at, pay_for_reading(++read))
    if (__builtin_mul_overflow(count, 10, &count) || __builtin_add_overflow(count, **at - '0', &count)) count = INT_MAX;
  return count;
}

static char parse_size(const char** at) {
  const char size = **at;
  if (size == '\0' || strchr("hlqjztL", size) == NULL) return 0;
  ++*at;
  if ((size != 'h' && size != 'l') || **at != size) return size;
  ++*at;
  return size == 'h' ? 'H' : 'q';
}

// Parses the conversion that follows a %. The letter is 0 at the end of the format.
static struct conversion parse_conversion(const char** at, va_list* values) {
  struct conversion c = {0, 0, -1, 0, 0};
  size_t read = 0;
  for (unsigned flag; (flag = flag_of(**at)) != 0; ++*at) {
    c.flags |= flag;
    pay_for_reading(++read);
  }
  c.width = parse_count(at, values);
  if (c.width < 0) {
    c.flags |= kLeft;
    c.width = c.width == INT_MIN ? INT_MAX : -c.width;
  }
  if (**at == '.') {
    ++*at;
    c.precision = parse_count(at, values);
  }
  c.size = parse_size(at);
  c.letter = **at;
  if (c.letter != '\0') ++*at;
  return c;
}

// Prints one conversion; returns false if its letter is unknown.
static int put_conversion(struct sink* sink, struct conversion* c, va_list* values) {
  switch (c->letter) {
    case 'd':
    case 'i':
      put_signed(sink, c, take_signed(c, values));
      return 1;
    case 'u':
      put_number(sink, c, "", take_unsigned(c, values), 10);
      return 1;
    case 'o':
      put_number(sink, c, "", take_unsigned(c, values), 8);
      return 1;
    case 'x':
    case 'X':
      put_hexadecimal(sink, c, take_unsigned(c, values));
      return 1;
    case 'b':
    case 'B':
      put_binary(sink, c, take_unsigned(c, values));
      return 1;
    case 'p':
      put_pointer(sink, c, va_arg(*values, void*));
      return 1;
    case 'C':
      c->size = 'l';
      put_character(sink, c, values);
      return 1;
    case 'c':
      put_character(sink, c, values);
      return 1;
    case 'S':
      put_wide_string(sink, c, va_arg(*values, const wchar_t*));
      return 1;
    case 's':
      if (c->size == 'l')
        put_wide_string(sink, c, va_arg(*values, const wchar_t*));
      else
        put_string(sink, c, va_arg(*values, const char*));
      return 1;
    case 'n':
      store_length(sink, c, va_arg(*values, void*));
      return 1;
    case 'm':
      put_string(sink, c, strerror(errno));
      return 1;
    case '%':
      put(sink, "%", 1);
      return 1;
    default:
      break;
  }
  if (c->letter == '\0' || strchr("aAeEfFgG", c->letter) == NULL) return 0;
  put_floating(sink, c, values);
  return 1;
}

static void put_format(struct sink* sink, const char* format, va_list* values) {
  enum { kConversionsPerOp = 16 };
  for (unsigned conversions = 1; *format != '\0'; conversions++) {
    if (conversions % kConversionsPerOp == 0) janus_pay(1);
    const char* percent = strchrnul(format, '%');
    put(sink, format, (size_t)(percent - format));
    if (*percent == '\0') return;
    format = percent + 1;
    struct conversion c = parse_conversion(&format, values);
    // An unknown conversion is printed as written.
    if (!put_conversion(sink, &c, values)) put(sink, percent, (size_t)(format - percent));
  }
}

JANUS_C_DEFINE int vsnprintf(char* restrict to, size_t size, const char* restrict format, va_list values) {
  struct sink sink = {to, size == 0 ? 0 : size - 1, 0};
  va_list own;
  va_copy(own, values);
  put_format(&sink, format, &own);
  va_end(own);
  if (size > 0) to[sink.length < sink.room ? sink.length : sink.room] = '\0';
  if (sink.length <= INT_MAX) return (int)sink.length;
  errno = EOVERFLOW;
  return -1;
}

JANUS_C_DEFINE int snprintf(char* restrict to, size_t size, const char* restrict format, ...) {
  va_list values;
  va_start(values, format);
  const int length = vsnprintf(to, size, format, values);
  va_end(values);
  return length;
}

JANUS_C_DEFINE int vsprintf(char* restrict to, const char* restrict format, va_list values) {
  return vsnprintf(to, INT_MAX, format, values);
}

JANUS_C_DEFINE int sprintf(char* restrict to, const char* restrict format, ...) {
  va_list values;
  va_start(values, format);
  const int length = vsprintf(to, format, values);
  va_end(values);
  return length;
}
