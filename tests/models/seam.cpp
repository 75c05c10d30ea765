// SPDX-License-Identifier: Apache-2.0
// seam.cpp — rt/platform.h on the machine of a model, as far as the protocols under test call it, and where their
// assertions go.
#include "rt/base/assert.h"
#include "rt/platform.h"
#include "tests/models/state.h"

namespace janus {

namespace platform {

std::byte* map(std::size_t bytes) noexcept {
  return model::map(bytes);
}
void unmap(std::byte* pages, std::size_t) noexcept {
  model::the_machine().unmap(pages);
}
void heavy_fence() noexcept {
  if (model::has_heavy_fence()) model::heavy_fence();
}
bool has_heavy_fence() noexcept {
  return model::has_heavy_fence();
}
std::uint64_t now_ns() noexcept {
  return 0;
}

}  // namespace platform

void assertion_failed(const char* claim, const char*, unsigned) noexcept {
  for (;;) model::require(false, claim);
}

}  // namespace janus
