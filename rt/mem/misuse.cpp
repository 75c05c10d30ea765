// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/misuse.h"

#include "rt/base/format.h"
#include "rt/platform.h"

namespace janus {

namespace {

// One line in one write.
using Line = Text<160>;

void write_out(const Line& line) noexcept {
  (void)platform::write(2, line.data(), line.size());
}

}  // namespace

[[gnu::noinline, gnu::cold]] void report_written_after_free(const void* block, std::size_t given_up) noexcept {
  Line line;
  line.append("janus: heap: the block at %p was written to after it was freed", block);
  if (given_up != 0) line.append("; free blocks lost with its link: %zu", given_up);
  line.append("\n");
  write_out(line);
}

[[gnu::noinline, gnu::cold]] void end_for_damage(const char* what, const void* block) noexcept {
  Line line;
  line.append("janus: heap: %s %p\n", what, block);
  write_out(line);
  platform::abort();
}

}  // namespace janus
