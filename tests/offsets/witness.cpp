// SPDX-License-Identifier: Apache-2.0
// witness.cpp [--hosted] PROGRAM — compares the machine code of a program with the C++ structs, instruction by
// instruction. --hosted: the program has a C library, which may use %fs and thread-local storage. Exit status 0: every
// claim holds; 1: the program is refused; 2: it cannot be read.
#include <cstdio>
#include <string_view>

#include "tests/offsets/report.h"

int main(int argc, char** argv) {
  const bool is_hosted = argc == 3 && std::string_view(argv[1]) == "--hosted";
  if (argc != 2 && !is_hosted) {
    std::fprintf(stderr, "usage: %s [--hosted] PROGRAM\n", argv[0]);
    return 2;
  }
  const witness::Image image(argv[argc - 1]);
  witness::Report report;
  witness::check_switch(image, report);
  witness::check_fiber_entry(image, report);
  witness::check_task_call(image, report);
  witness::check_segments(image, is_hosted, report);
  witness::check_slot_accesses(image, report);
  return report.finish();
}
