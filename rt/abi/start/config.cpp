// SPDX-License-Identifier: Apache-2.0
#include "rt/abi/start/config.h"

#include <cstddef>
#include <limits>

#include "rt/base/checked.h"
#include "rt/base/text_list.h"
#include "rt/mem/stack.h"
#include "rt/task/report/log.h"

namespace janus {
namespace {

constexpr std::uint64_t kMaxWorkers = 1024;
constexpr std::uint64_t kMaxStack = 1024 * 1024;
constexpr std::uint64_t kMaxStackMax = kMaxStackGrowth;
static_assert(kMaxStackMax == 8'388'608, "the texts of this file and of janus/rt/config.h say so");
constexpr std::uint64_t kMinMemory = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxMemory = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kMaxGrace = std::numeric_limits<std::uint32_t>::max();

// ---- Values -------------------------------------------------------------------------------------------------------

bool is_same(const char* a, const char* b) noexcept {
  for (; *a != '\0' && *a == *b; ++a) ++b;
  return *a == *b;
}

// The value of a digit; for other characters a number that is a digit in no base.
unsigned digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return ~0u;
}

// Parses digits from `at` on, and moves `at` behind them. False: there is none, or they do not fit.
bool parse_digits(const char*& at, unsigned base, std::uint64_t& number) noexcept {
  const char* const start = at;
  number = 0;
  for (; digit_of(*at) < base; ++at) {
    if (!checked_mul(number, std::uint64_t{base}, number)) return false;
    if (!checked_add(number, std::uint64_t{digit_of(*at)}, number)) return false;
  }
  return at != start;
}

bool parse_number(const char* value, std::uint64_t& number) noexcept {
  return parse_digits(value, 10, number) && *value == '\0';
}

bool parse_seed(const char* value, std::uint64_t& seed) noexcept {
  const bool is_hex = value[0] == '0' && (value[1] == 'x' || value[1] == 'X');
  if (is_hex) value += 2;
  return parse_digits(value, is_hex ? 16 : 10, seed) && *value == '\0';
}

// A number of bytes may have k, m or g behind it, for 2^10, 2^20 and 2^30 bytes.
unsigned shift_of(char unit) noexcept {
  switch (unit) {
    case 'k':
    case 'K':
      return 10;
    case 'm':
    case 'M':
      return 20;
    case 'g':
    case 'G':
      return 30;
    default:
      return 0;
  }
}

bool parse_size(const char* value, std::uint64_t& bytes) noexcept {
  if (!parse_digits(value, 10, bytes)) return false;
  const unsigned shift = shift_of(*value);
  if (shift != 0) ++value;
  return *value == '\0' && checked_mul(bytes, std::uint64_t{1} << shift, bytes);
}

// ---- One reader for each name: false if the value is invalid ----------------------------------------------------

bool read_workers(const char* value, Settings& out) noexcept {
  std::uint64_t number = 0;
  out.has_workers = parse_number(value, number) && number >= 1 && number <= kMaxWorkers;
  out.workers = static_cast<std::uint32_t>(number);
  return out.has_workers;
}

bool read_seed(const char* value, Settings& out) noexcept {
  return out.has_seed = parse_seed(value, out.seed);
}

// Reads a number of bytes from 1 to `most`, which fits in `out`.
bool read_bytes(const char* value, std::uint64_t most, std::uint32_t& out) noexcept {
  std::uint64_t bytes = 0;
  const bool is_size = parse_size(value, bytes) && bytes >= 1 && bytes <= most;
  out = static_cast<std::uint32_t>(bytes);
  return is_size;
}

bool read_stack(const char* value, Settings& out) noexcept {
  return out.has_stack = read_bytes(value, kMaxStack, out.stack);
}

bool read_stack_max(const char* value, Settings& out) noexcept {
  return out.has_stack_max = read_bytes(value, kMaxStackMax, out.stack_max);
}

bool read_memory(const char* value, Settings& out) noexcept {
  return out.has_memory = parse_size(value, out.memory) && out.memory >= kMinMemory && out.memory <= kMaxMemory;
}

bool read_switch(const char* value, bool& out) noexcept {
  out = value[0] == '1';
  return (value[0] == '0' || value[0] == '1') && value[1] == '\0';
}

bool read_pin(const char* value, Settings& out) noexcept {
  return out.has_pin = read_switch(value, out.pin);
}

bool read_stats(const char* value, Settings& out) noexcept {
  return out.has_stats = read_switch(value, out.stats);
}

bool read_core(const char* value, Settings& out) noexcept {
  return out.has_core = read_switch(value, out.core);
}

bool read_sigpipe(const char* value, Settings& out) noexcept {
  out.ignores_sigpipe = is_same(value, "ignore");
  return out.has_sigpipe = out.ignores_sigpipe || is_same(value, "default");
}

bool read_profile(const char* value, Settings& out) noexcept {
  out.profile = is_same(value, "service")     ? JANUS_PROFILE_SERVICE
                : is_same(value, "cluster")   ? JANUS_PROFILE_CLUSTER
                : is_same(value, "sovereign") ? JANUS_PROFILE_SOVEREIGN
                                              : JANUS_PROFILE_DEFAULT;
  return out.has_profile = out.profile != JANUS_PROFILE_DEFAULT;
}

bool read_grace(const char* value, Settings& out) noexcept {
  std::uint64_t number = 0;
  out.has_grace = parse_number(value, number) && number <= kMaxGrace;
  out.grace_ms = static_cast<std::uint32_t>(number);
  return out.has_grace;
}

bool read_trace(const char* value, Settings& out) noexcept {
  out.trace = value;
  return out.has_trace = *value != '\0';
}

struct Setting {
  const char* name;
  bool Settings::*is_there;
  bool (*read)(const char* value, Settings& out) noexcept;
  const char* sense;  // "not ..."
};

constexpr Setting kSettings[] = {
    {"JANUS_WORKERS", &Settings::has_workers, read_workers, "a number from 1 to 1024"},
    {"JANUS_SEED", &Settings::has_seed, read_seed, "a number from 0 to 2^64-1, decimal or 0x..."},
    {"JANUS_STACK", &Settings::has_stack, read_stack, "a number of bytes from 1 to 1m (k and m may follow)"},
    {"JANUS_STACK_MAX", &Settings::has_stack_max, read_stack_max,
     "a number of bytes from 1 to 8m (k and m may follow)"},
    {"JANUS_MEMORY", &Settings::has_memory, read_memory, "a number of bytes from 1m (k, m or g may follow)"},
    {"JANUS_PIN", &Settings::has_pin, read_pin, "0 or 1"},
    {"JANUS_PROFILE", &Settings::has_profile, read_profile, "service, cluster or sovereign"},
    {"JANUS_GRACE", &Settings::has_grace, read_grace, "a number of milliseconds from 0 to 4294967295"},
    {"JANUS_STATS", &Settings::has_stats, read_stats, "0 or 1"},
    {"JANUS_TRACE", &Settings::has_trace, read_trace, "the name of a file"},
    {"JANUS_SIGPIPE", &Settings::has_sigpipe, read_sigpipe, "default or ignore"},
    {"JANUS_CORE", &Settings::has_core, read_core, "0 or 1"},
};

// The value if `entry` is NAME=value, else nullptr.
const char* value_of(const char* entry, const char* name) noexcept {
  for (; *name != '\0'; ++name, ++entry) {
    if (*entry != *name) return nullptr;
  }
  return *entry == '=' ? entry + 1 : nullptr;
}

// An invalid value may contain any bytes; the complaint stays one short, printable line.
void complain(const Setting& setting, const char* value, Complaint& complaint) noexcept {
  constexpr std::size_t kMaxShown = 64;
  complaint.clear();
  complaint.append("janus: %s=", setting.name);
  complaint.append_escaped(value, kMaxShown);
  complaint.append(": not %s", setting.sense);
}

bool read_entry(const char* entry, Settings& out, Complaint& complaint) noexcept {
  for (const Setting& setting : kSettings) {
    const char* const value = value_of(entry, setting.name);
    if (value == nullptr) continue;
    if (out.*setting.is_there || setting.read(value, out)) return true;
    complain(setting, value, complaint);
    return false;
  }
  return true;
}

// ---- Names that are nearly right ------------------------------------------------------------------------------------

// Names are compared up to the end of the text, or up to '='.
bool has_ended(char c) noexcept {
  return c == '\0' || c == '=';
}

bool is_same_name(const char* entry, const char* name) noexcept {
  for (; !has_ended(*entry) && *entry == *name; ++entry) ++name;
  return has_ended(*entry) && *name == '\0';
}

// Whether the name at the start of `entry` becomes `name` if one letter is added, left out or changed.
bool is_one_letter_off(const char* entry, const char* name) noexcept {
  for (; !has_ended(*entry) && *entry == *name; ++entry) ++name;
  for (unsigned skip = 1; skip <= 3; ++skip) {
    const unsigned of_entry = skip & 1, of_name = skip >> 1;
    if ((of_entry != 0 && has_ended(*entry)) || (of_name != 0 && *name == '\0')) continue;
    if (is_same_name(entry + of_entry, name + of_name)) return true;
  }
  return false;
}

bool is_setting(const char* entry) noexcept {
  for (const Setting& setting : kSettings) {
    if (value_of(entry, setting.name) != nullptr) return true;
  }
  return false;
}

// ---- A program's fields -------------------------------------------------------------------------------------------

constexpr std::uint32_t kAllFlags =
    JANUS_RT_DETERMINISTIC | JANUS_RT_NO_PIN | JANUS_RT_NO_SIGNALS | JANUS_RT_PIN | JANUS_RT_IGNORE_SIGPIPE;
constexpr std::uint32_t kPinFlags = JANUS_RT_PIN | JANUS_RT_NO_PIN;
constexpr std::uint32_t kMaxYieldInterval = 1u << 20;

bool is_size_known(std::uint32_t size) noexcept {
  return size == 0 || size == sizeof(janus_rt_config);
}

bool are_reserved_zero(const janus_rt_config& config) noexcept {
  for (const std::uint8_t byte : config.reserved) {
    if (byte != 0) return false;
  }
  return true;
}

// The most that a field may be. A table, since a comparison in code for each would be three times as long.
struct FieldLimit {
  std::uint8_t at, bytes;
  std::uint32_t most;
};
#define JANUS_LIMIT(field, most)                                           \
  FieldLimit {                                                             \
    offsetof(janus_rt_config, field), sizeof(janus_rt_config::field), most \
  }
constexpr FieldLimit kLimits[] = {
    JANUS_LIMIT(worker_count, kMaxWorkers),
    JANUS_LIMIT(profile, JANUS_PROFILE_SOVEREIGN),
    JANUS_LIMIT(yield_interval, kMaxYieldInterval),
    JANUS_LIMIT(stack_size, kMaxStack),
    JANUS_LIMIT(stack_max, kMaxStackMax),
    JANUS_LIMIT(victim_strategy, JANUS_VICTIM_LEAST_LOADED),
    JANUS_LIMIT(stats, 1),
    JANUS_LIMIT(report_failures, 1),
};
constexpr char kLimitTexts[] =
    "worker_count: not a number up to 1024\0"
    "profile: not one of JANUS_PROFILE_*\0"
    "yield_interval: not a number up to 1048576\0"
    "stack_size: not a number up to 1048576\0"
    "stack_max: not a number up to 8388608\0"
    "victim_strategy: not one of JANUS_VICTIM_*\0"
    "stats: not 0 or 1\0"
    "report_failures: not 0 or 1";
// Fields for a later version: 0 in this release.
constexpr FieldLimit kLater[] = {
    JANUS_LIMIT(start_thread, 0),
    JANUS_LIMIT(slice_ops, 0),
    JANUS_LIMIT(stack_cache, 0),
    JANUS_LIMIT(trace, 0),
};
constexpr char kLaterNames[] = "start_thread\0slice_ops\0stack_cache\0trace (JANUS_TRACE)";
#undef JANUS_LIMIT

// The complaint for the first field that is too large, or nullptr.
[[gnu::noinline]] const char* first_beyond(const janus_rt_config& config, const FieldLimit* limits, unsigned count,
                                           const char* texts) noexcept {
  for (unsigned i = 0; i < count; ++i) {
    std::uint64_t value = 0;
    __builtin_memcpy(&value, reinterpret_cast<const char*>(&config) + limits[i].at, 4);
    if (limits[i].bytes == 8)
      __builtin_memcpy(&value, reinterpret_cast<const char*>(&config) + limits[i].at, sizeof value);
    if (value > limits[i].most) return nth_text(texts, i);
  }
  return nullptr;
}

const char* find_senseless(const janus_rt_config& config) noexcept {
  if (!is_size_known(config.size)) return "size: not 0 or sizeof(janus_rt_config)";
  if ((config.flags & ~kAllFlags) != 0) return "flags: not made of JANUS_RT_* flags";
  if ((config.flags & kPinFlags) == kPinFlags) return "flags: not one of JANUS_RT_PIN and JANUS_RT_NO_PIN";
  if ((config.memory != 0 && config.memory < kMinMemory) || config.memory > kMaxMemory)
    return "memory: not 0 or a number of bytes from 1048576";
  if (!are_reserved_zero(config)) return "reserved: not zero";
  return first_beyond(config, kLimits, sizeof kLimits / sizeof *kLimits, kLimitTexts);
}

template <typename T>
void prefer(T& field, T wanted) noexcept {
  if (field == T{}) field = wanted;
}

// Adds the environment's flags; for pinning only if the program sets none.
std::uint32_t flags_from(const Settings& settings, std::uint32_t flags) noexcept {
  if (settings.has_seed) flags |= JANUS_RT_DETERMINISTIC;
  if (settings.ignores_sigpipe) flags |= JANUS_RT_IGNORE_SIGPIPE;
  if (settings.has_pin && (flags & kPinFlags) == 0) flags |= settings.pin ? JANUS_RT_PIN : JANUS_RT_NO_PIN;
  return flags;
}

}  // namespace

bool parse_settings(const char* const* environment, Settings& out, Complaint& complaint) noexcept {
  out = Settings{};
  if (environment == nullptr) return true;
  for (; *environment != nullptr; ++environment) {
    if (!read_entry(*environment, out, complaint)) return false;
  }
  return true;
}

void note_misspelt(const char* const* environment, const Settings& settings, Notes& notes) noexcept {
  constexpr std::size_t kMaxName = 32;
  for (; *environment != nullptr; ++environment) {
    if (is_setting(*environment)) continue;
    for (const Setting& setting : kSettings) {
      if (settings.*setting.is_there || !is_one_letter_off(*environment, setting.name)) continue;
      char name[kMaxName] = {};
      for (std::size_t i = 0; i + 1 < kMaxName && !has_ended((*environment)[i]); ++i) name[i] = (*environment)[i];
      notes.append("janus: ").append_escaped(name, kMaxName).append(" is no setting; did you mean %s?", setting.name);
      notes.end_line();
    }
  }
}

void say_misspelt(const char* const* environment, const Settings& settings) noexcept {
  Notes notes;
  if (environment != nullptr) note_misspelt(environment, settings, notes);
  if (notes.size() != 0) say(notes.data(), notes.size());
}

int check_config(const janus_rt_config& config, Complaint& complaint) noexcept {
  const char* const senseless = find_senseless(config);
  const char* const later =
      senseless != nullptr ? nullptr : first_beyond(config, kLater, sizeof kLater / sizeof *kLater, kLaterNames);
  if (senseless == nullptr && later == nullptr) return 0;
  complaint.clear();
  const bool is_later = senseless == nullptr;
  complaint.append("janus: janus_rt_config.%s%s", is_later ? later : senseless,
                   is_later ? ": not in this release" : "");
  return is_later ? JANUS_E_UNSUPPORTED : JANUS_E_INVALID;
}

janus_rt_config merge(const Settings& settings, const janus_rt_config* program) noexcept {
  janus_rt_config config = program != nullptr ? *program : janus_rt_config{};
  config.size = sizeof(janus_rt_config);
  config.flags = flags_from(settings, config.flags);
  if (settings.has_workers) prefer(config.worker_count, settings.workers);
  if (settings.has_seed) prefer(config.deterministic_seed, settings.seed);
  if (settings.has_stack) prefer(config.stack_size, settings.stack);
  if (settings.has_stack_max) prefer(config.stack_max, settings.stack_max);
  if (settings.has_memory) prefer(config.memory, settings.memory);
  if (settings.has_profile) prefer(config.profile, settings.profile);
  // A grace of 0 becomes the shortest, since 0 in the config requests the default.
  if (settings.has_grace) prefer(config.grace_ms, settings.grace_ms != 0 ? settings.grace_ms : 1u);
  if (settings.has_stats) prefer(config.stats, std::uint32_t{settings.stats});
  if (settings.has_trace) prefer(config.trace, settings.trace);
  return config;
}

}  // namespace janus
