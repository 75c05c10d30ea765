// SPDX-License-Identifier: Apache-2.0
// report.h — claims about a program, printed as TAP.
#pragma once

#include <map>
#include <string>

#include "tests/offsets/machine.h"

namespace witness {

class Report {
 public:
  // One claim; `seen` is what was found instead, printed if the claim does not hold.
  void claim(const std::string& what, bool holds, const std::string& seen = "");
  // A claim that two texts are equal.
  void equal(const std::string& what, const std::string& seen, const std::string& wanted);
  // Prints the plan. Returns 0 if every claim held, else 1.
  int finish();

 private:
  int claims_ = 0;
  int refused_ = 0;
};

// A readable form that can be compared: "rdi+8:8=rbx rdi+16:8=rbp".
[[nodiscard]] std::string text(const std::map<Value, Word>& stores);

// The events of one kind on a path.
[[nodiscard]] std::vector<Event> events(const Path& path, const std::string& what);

// The checks, one function or more in each file.
void check_switch(const Image& image, Report& report);
void check_fiber_entry(const Image& image, Report& report);
void check_task_call(const Image& image, Report& report);
void check_segments(const Image& image, bool is_hosted, Report& report);
void check_slot_accesses(const Image& image, Report& report);

}  // namespace witness
