// SPDX-License-Identifier: Apache-2.0
// rt/base/build_id.h — the build id that the linker gave the image that contains this code (--build-id).
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus {

struct BuildId {
  const std::uint8_t* bytes;  // nullptr: it has none
  std::size_t count;
};

// May be called in a fault handler.
BuildId build_id() noexcept;

}  // namespace janus
