// SPDX-License-Identifier: Apache-2.0
// vector_state.cpp — Intel SDM volume 1, chapter 13. Without xsave only the x87 and SSE registers exist, which fxsave
// saves.
#include "kernel-free/cpu/vector_state.h"

#include <arch/context.h>
#include <arch/cpu.h>

#include "kernel-free/cpu/instructions.h"

namespace janus::bare {
namespace {

// x87, SSE, AVX and the three parts of AVX-512. Larger parts (AMX tiles) stay off: a thread's record has no room for
// them.
constexpr std::uint64_t kWanted = 0xe7;
constexpr std::uint64_t kCr4OsXsave = 1 << 18;

bool g_has_xsave = false;  // the same on all CPUs; written before there is a second one

// fxsave's layout, as far as it is not zero; xsave's header behind it says that all parts are in their initial state.
struct alignas(64) Legacy {
  std::uint16_t control;
  std::uint8_t unused[22];
  std::uint32_t mxcsr;
  std::uint8_t rest[484];
  std::uint8_t header[64];
};
static_assert(sizeof(Legacy) == 576 && offsetof(Legacy, mxcsr) == 24);

constexpr Legacy kClean{arch::kDefaultFcw, {}, arch::kDefaultMxcsr, {}, {}};

void load_from(const void* area) {
  if (g_has_xsave)
    asm volatile("xrstor64 (%0)" : : "r"(area), "a"(~0u), "d"(~0u) : "memory");
  else
    asm volatile("fxrstor64 (%0)" : : "r"(area) : "memory");
}

}  // namespace

void enable_vectors_here() noexcept {
  g_has_xsave = (arch::cpuid(1).ecx >> 26 & 1) != 0;
  if (g_has_xsave) {
    const arch::Cpuid parts = arch::cpuid(0xd);
    const std::uint64_t mask = (std::uint64_t{parts.edx} << 32 | parts.eax) & kWanted;
    write_cr4(read_cr4() | kCr4OsXsave);
    asm volatile("xsetbv" : : "c"(0), "a"(static_cast<std::uint32_t>(mask)), "d"(0));
  }
  clean_vectors();
}

void init_vectors(VectorState& state) noexcept {
  copy_bytes(state.bytes, &kClean, sizeof kClean);
}

void save_vectors(VectorState& state) noexcept {
  if (g_has_xsave)
    asm volatile("xsave64 (%0)" : : "r"(state.bytes), "a"(~0u), "d"(~0u) : "memory");
  else
    asm volatile("fxsave64 (%0)" : : "r"(state.bytes) : "memory");
}

void load_vectors(const VectorState& state) noexcept {
  load_from(state.bytes);
}

void clean_vectors() noexcept {
  load_from(&kClean);
}

}  // namespace janus::bare
