// SPDX-License-Identifier: Apache-2.0
// fake_processor/kernel-free/cpu/instructions.h — the privileged instructions, with ports, model specific registers,
// cr3 and touch() defined by the test, and interrupts always off. This folder comes before the real one on the include
// path.
#pragma once

#define in8 in8_of_this_machine
#define out8 out8_of_this_machine
#define read_msr read_msr_of_this_machine
#define write_msr write_msr_of_this_machine
#define read_flags read_flags_of_this_machine
#define read_cr3 read_cr3_of_this_machine
#define write_cr3 write_cr3_of_this_machine
#define touch touch_on_this_machine
#include "../../../../../kernel-free/cpu/instructions.h"
#undef in8
#undef out8
#undef read_msr
#undef write_msr
#undef read_flags
#undef read_cr3
#undef write_cr3
#undef touch

namespace janus::bare {

[[nodiscard]] std::uint8_t in8(std::uint16_t port) noexcept;
void out8(std::uint16_t port, std::uint8_t value) noexcept;
[[nodiscard]] std::uint64_t read_msr(std::uint32_t which) noexcept;
void write_msr(std::uint32_t which, std::uint64_t value) noexcept;
[[nodiscard]] std::uint64_t read_cr3() noexcept;
void write_cr3(std::uint64_t value) noexcept;
void touch(const std::byte* at) noexcept;
[[nodiscard]] inline std::uint64_t read_flags() noexcept {
  return 0;
}

}  // namespace janus::bare
