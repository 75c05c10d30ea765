// SPDX-License-Identifier: Apache-2.0
// seam.cpp — the functions of rt/platform.h that the protocols under test call, on the machine of a model, and their
// assertions.
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
