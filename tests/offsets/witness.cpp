// SPDX-License-Identifier: Apache-2.0
// witness.cpp PROGRAM — holds the linked bytes of a program against the C++ structs, instruction by instruction.
// 0: every claim holds; 1: the program is refused; 2: it cannot be read.
#include <cstdio>

#include "tests/offsets/report.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s PROGRAM\n", argv[0]);
    return 2;
  }
  const witness::Image image(argv[1]);
  witness::Report report;
  witness::check_switch(image, report);
  witness::check_fiber_entry(image, report);
  witness::check_task_call(image, report);
  witness::check_segments(image, report);
  witness::check_slot_accesses(image, report);
  return report.finish();
}
