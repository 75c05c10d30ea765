// SPDX-License-Identifier: Apache-2.0
// rt/abi/start/config.h — reads and checks the settings in the environment (JANUS_*) and in a program's janus_config.
// Pure functions that allocate nothing. A program prints the complaint and ends with status 2; in a host's process the
// call fails with the error.
// docs/decisions/0062
#pragma once

#include <cstdint>

#include "rt/base/format.h"
#include "rt/include/janus/rt.h"

namespace janus {

// The settings in the environment. A value is valid only if its has_ is true.
struct Settings {
  bool has_workers, has_seed, has_stack, has_memory, has_pin, has_profile, has_grace, has_stats, has_trace, has_sigpipe,
      has_core;
  bool has_stack_max;
  bool pin;                 // JANUS_PIN
  bool stats;               // JANUS_STATS
  bool ignores_sigpipe;     // JANUS_SIGPIPE
  bool core;                // JANUS_CORE; not in janus_config, since it is for debugging
  std::uint32_t workers;    // JANUS_WORKERS, 1 ... 1024
  std::uint32_t stack;      // JANUS_STACK in bytes, up to 1 MiB
  std::uint32_t stack_max;  // JANUS_STACK_MAX in bytes, up to 8 MiB
  std::uint32_t profile;    // JANUS_PROFILE as JANUS_PROFILE_*
  std::uint32_t grace_ms;   // JANUS_GRACE
  std::uint64_t seed;       // JANUS_SEED; its presence selects deterministic mode
  std::uint64_t memory;     // JANUS_MEMORY in bytes, from 1 MiB on
  const char* trace;        // JANUS_TRACE, in the environment's own memory
};

// A line without its newline.
using Complaint = Text<256>;

// Reads a NULL-terminated environment (nullptr: an empty one). Of two values of one name the first counts, as for
// getenv. False: a value is invalid; `complaint` says which, and what is valid.
[[nodiscard]] bool parse_settings(const char* const* environment, Settings& out, Complaint& complaint) noexcept;

// Lines for a user, each with its newline.
using Notes = Text<512>;

// Adds a line for each name in the environment that differs in one letter from that of a setting that is not given.
// Other names may have other purposes: orchestrators derive some from names of services.
void note_misspelt(const char* const* environment, const Settings& settings, Notes& notes) noexcept;
// Writes these lines to stderr. Not inlined, to keep the buffer out of main's frame.
[[gnu::noinline, gnu::cold]] void say_misspelt(const char* const* environment, const Settings& settings) noexcept;

// Checks the merged configuration of a program or host. 0; JANUS_E_INVALID: a field is invalid; JANUS_E_UNSUPPORTED:
// this release does not support its value.
[[nodiscard]] int check_config(const janus_rt_config& config, Complaint& complaint) noexcept;

// Merges both: the program's fields win where they are not 0. `program` may be nullptr; the result has the full size.
// Fields that neither sets are 0.
[[nodiscard]] janus_rt_config merge(const Settings& settings, const janus_rt_config* program) noexcept;

}  // namespace janus
