// SPDX-License-Identifier: Apache-2.0
// processors.h — the CPUs that the firmware reports. Its tables may be wrong or hostile, so all data from them is
// checked. If ACPI's table fails a check, the older one is read; if that fails, too, one CPU is used.
#pragma once

#include <cstdint>

#include "kernel-free/cpu/instructions.h"
#include "kernel-free/memory/frames.h"
#include "rt/platform.h"

namespace janus::bare {

// All CPUs but the one that runs this code.
struct ProcessorList {
  std::uint32_t own_id;
  unsigned count;                         // entries in `ids`
  unsigned announced;                     // CPUs found, including those that do not fit in `ids` or are unreachable
  std::uint32_t ids[platform::kMaxCpus];  // the ids of their local APICs
};

// The largest APIC id that xAPIC interrupts can reach; larger ones need x2APIC.
inline constexpr std::uint32_t kMaxXapicId = 254;

// Adds a CPU, unless it is the one that runs this code or is listed already.
void add_processor(ProcessorList& list, std::uint32_t apic_id) noexcept;

// The outcome of reading one kind of tables. Unless it is kAll, the list is empty.
enum class Told : std::uint8_t { kNothing, kDamaged, kAll };

// Reads ACPI's MADT. If `rsdp` is 0 or not valid, the usual places are searched for the root pointer.
[[nodiscard]] Told processors_from_acpi(std::uint64_t rsdp, ProcessorList& list) noexcept;
// Reads the table of the older MultiProcessor specification.
[[nodiscard]] Told processors_from_mp_table(ProcessorList& list) noexcept;

// --- Used by both, under the boot page tables, which reach physical addresses below 4 GiB. ---

inline constexpr std::uint64_t kReachable = std::uint64_t{1} << 32;

template <class T>
[[nodiscard]] T read_physical(std::uint64_t address) noexcept {
  T value;
  copy_bytes(&value, at_physical<const void>(address), sizeof value);
  return value;
}
// Whether the bytes lie below kReachable and add up to 0, as firmware's checksums do.
[[nodiscard]] bool adds_up(std::uint64_t address, std::uint64_t bytes) noexcept;
// The first address, a multiple of 16, in the areas of firmware tables, that begins with `mark` and passes `is_good`;
// 0: none.
[[nodiscard]] std::uint64_t search_firmware(const char* mark, std::uint64_t mark_bytes,
                                            bool (*is_good)(std::uint64_t address)) noexcept;
[[nodiscard]] bool begins_with(std::uint64_t address, const char* mark, std::uint64_t mark_bytes) noexcept;

}  // namespace janus::bare
