// SPDX-License-Identifier: Apache-2.0
// processors.h — which CPUs the firmware says there are. All of it reads memory that others wrote: nothing in it is
// believed, and what does not hold leaves us with the CPU that we run on.
#pragma once

#include <cstdint>

#include "kernel-free/cpu/instructions.h"
#include "kernel-free/memory/frames.h"
#include "rt/platform.h"

namespace janus::bare {

// All but the one that runs.
struct ProcessorList {
  std::uint32_t own_id;
  unsigned count;                         // entries in `ids`
  unsigned announced;                     // there may be more than there is room for, or than can be reached
  std::uint32_t ids[platform::kMaxCpus];  // of their local APICs
};

// An id that xAPIC interrupts can reach; larger ones need x2APIC.
inline constexpr std::uint32_t kMostXapicId = 254;

// Once each, and the CPU that runs this not at all.
void add_processor(ProcessorList& list, std::uint32_t apic_id) noexcept;

// What a kind of tables tells. Unless it is kAll the list is empty.
enum class Told : std::uint8_t { kNothing, kDamaged, kAll };

// ACPI's MADT; `rsdp` may be 0, then the usual places are searched.
[[nodiscard]] Told processors_from_acpi(std::uint64_t rsdp, ProcessorList& list) noexcept;
// The older MultiProcessor specification.
[[nodiscard]] Told processors_from_mp_table(ProcessorList& list) noexcept;

// --- For both. The boot tables are in force, which reach physical addresses below 4 GiB. ---

inline constexpr std::uint64_t kReachable = std::uint64_t{1} << 32;

template <class T>
[[nodiscard]] T read_physical(std::uint64_t address) noexcept {
  T value;
  copy_bytes(&value, at_physical<const void>(address), sizeof value);
  return value;
}
// Bytes that add up to 0.
[[nodiscard]] bool adds_up(std::uint64_t address, std::uint64_t bytes) noexcept;
// The first place, at a multiple of 16, in [begin, end) that begins with `mark` and passes `is_good`; or 0.
[[nodiscard]] std::uint64_t search_firmware(const char* mark, std::uint64_t mark_bytes,
                                            bool (*is_good)(std::uint64_t address)) noexcept;
[[nodiscard]] bool begins_with(std::uint64_t address, const char* mark, std::uint64_t mark_bytes) noexcept;

}  // namespace janus::bare
