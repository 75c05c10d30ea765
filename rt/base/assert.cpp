// SPDX-License-Identifier: Apache-2.0
#include "rt/base/assert.h"

#include "rt/base/format.h"
#include "rt/platform.h"

namespace janus {

namespace {

// Drops leading "../": compilers run in a build directory, and the path out of it carries no information.
const char* from_root(const char* file) noexcept {
  while (file[0] == '.' && file[1] == '.' && file[2] == '/') file += 3;
  return file;
}

}  // namespace

void assertion_failed(const char* claim, const char* file, unsigned line) noexcept {
  Text<512> text;
  text.append("janus: assertion failed: %.400s (%.80s:%u)\n", claim, from_root(file), line);
  (void)platform::write(2, text.data(), text.size());
  platform::abort();
}

}  // namespace janus
