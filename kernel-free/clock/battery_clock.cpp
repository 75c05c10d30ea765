// SPDX-License-Identifier: Apache-2.0
// battery_clock.cpp — the date, from the PC's battery clock (MC146818), read once at boot and taken to be UTC, as QEMU
// sets it. Without such a clock the date at boot is 1970.
#include <cstdint>

#include "kernel-free/cpu/instructions.h"

namespace janus::bare {

[[nodiscard]] std::int64_t read_battery_clock() noexcept;

namespace {

enum Register : std::uint8_t {
  kSeconds = 0,
  kMinutes = 2,
  kHours = 4,
  kDay = 7,
  kMonth = 8,
  kYear = 9,
  kA = 10,
  kB = 11
};
constexpr unsigned kPatience = 10'000;

std::uint8_t read(Register which) {
  out8(0x70, which);
  return in8(0x71);
}

struct Date {
  unsigned seconds, minutes, hours, day, month, year;

  [[nodiscard]] bool is_sensible() const {
    return seconds < 61 && minutes < 60 && hours < 24 && day >= 1 && day <= 31 && month >= 1 && month <= 12 &&
           year < 100;
  }
  [[nodiscard]] bool is(const Date& other) const {
    return seconds == other.seconds && minutes == other.minutes && hours == other.hours && day == other.day &&
           month == other.month && year == other.year;
  }
};

unsigned from_bcd(unsigned field) {
  return (field >> 4) * 10 + (field & 15);
}

Date read_date() {
  for (unsigned n = 0; n < kPatience && (read(kA) & 0x80) != 0; ++n) continue;  // it is being updated
  Date date{read(kSeconds), read(kMinutes), read(kHours), read(kDay), read(kMonth), read(kYear)};
  const std::uint8_t mode = read(kB);
  const bool is_binary = (mode & 4) != 0, has_24_hours = (mode & 2) != 0;
  const bool is_afternoon = !has_24_hours && (date.hours & 0x80) != 0;
  date.hours &= 0x7f;
  if (!is_binary)
    date = {from_bcd(date.seconds), from_bcd(date.minutes), from_bcd(date.hours),
            from_bcd(date.day),     from_bcd(date.month),   from_bcd(date.year)};
  if (!has_24_hours) date.hours = date.hours % 12 + (is_afternoon ? 12 : 0);
  return date;
}

// Days since 1970 of a day in 2000 ... 2099, where every fourth year is a leap year.
std::int64_t days_of(const Date& date) {
  constexpr std::uint16_t kBefore[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  const bool is_behind_leap_day = date.year % 4 == 0 && date.month > 2;
  return 10957 + date.year * 365 + (date.year + 3) / 4 + kBefore[date.month - 1] + is_behind_leap_day + date.day - 1;
}

}  // namespace

std::int64_t read_battery_clock() noexcept {
  Date date = read_date();
  for (Date again = read_date(); !date.is(again); again = read_date()) date = again;
  if (!date.is_sensible()) return 0;
  const std::int64_t hours = days_of(date) * 24 + date.hours;
  return ((hours * 60 + date.minutes) * 60 + date.seconds) * 1'000'000'000;
}

}  // namespace janus::bare
