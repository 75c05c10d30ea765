// SPDX-License-Identifier: Apache-2.0
// user_copy.cpp — see user_copy.h. The table is scanned: it is short, and it is read only after a fault.
#include <arch/user_copy.h>

#include <arch/opaque.h>

namespace janus::arch {

// Each field is a distance from the field itself.
struct FixUp {
  std::int32_t access;
  std::int32_t go_on;
};
static_assert(sizeof(FixUp) == 8 && alignof(FixUp) == 4, "as JANUS_MAY_FAULT and MAY_FAULT write it");

}  // namespace janus::arch

// Linkers define these at the begin and end of the section. Weak, so that the archive needs no such symbols.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern const janus::arch::FixUp janus_fixups[] asm("__start_janus_fixups");
[[gnu::weak, gnu::visibility("hidden")]] extern const janus::arch::FixUp janus_fixups_end[] asm("__stop_janus_fixups");
}

namespace janus::arch {

namespace {

std::uint64_t target_of(const std::int32_t& distance) noexcept {
  return reinterpret_cast<std::uint64_t>(&distance) + static_cast<std::uint64_t>(std::int64_t{distance});
}

}  // namespace

std::uint64_t find_fix_up(std::uint64_t ip) noexcept {
  const FixUp* const end = opaque(&janus_fixups_end[0]);
  for (const FixUp* entry = opaque(&janus_fixups[0]); entry != end; ++entry) {
    if (target_of(entry->access) == ip) return target_of(entry->go_on);
  }
  return 0;
}

}  // namespace janus::arch
