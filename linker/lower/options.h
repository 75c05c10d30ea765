// SPDX-License-Identifier: Apache-2.0
// options.h — what the command line says.
#pragma once

#include <string>

namespace janus::lower {

struct Options {
  std::string input, output;    // output: empty for stdout
  std::string profile;          // core, service, cluster, sovereign; empty where the file says it
  unsigned llvm_version = 0;    // the major version of the LLVM that reads the output; 0: unknown
  unsigned yield_interval = 0;  // 0: the profile's
  bool has_yield_checks = true;
  bool shows_lines = false;  // for LLVM IR: print a LineMap of the output in its place
};

// Iterations of a loop between two checks: the specification's default for a profile.
inline unsigned interval_of(const Options& options, const std::string& profile) {
  if (options.yield_interval != 0) return options.yield_interval;
  return profile == "cluster" ? 512 : 1024;
}

inline bool is_profile(const std::string& name) {
  return name == "core" || name == "service" || name == "cluster" || name == "sovereign";
}

}  // namespace janus::lower
