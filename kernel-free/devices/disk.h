// SPDX-License-Identifier: Apache-2.0
// disk.h — block devices, read only: the first one is /dev/vda. Any thread, interrupts on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus::bare {

struct Disk;
inline constexpr unsigned kMostDisks = 8;

// The nth disk, which stays; nullptr: there is none, or it does not work.
[[nodiscard]] Disk* find_disk(unsigned nth) noexcept;
// One that find_disk() has given.
[[nodiscard]] Disk& disk_at(unsigned nth) noexcept;
[[nodiscard]] std::uint64_t bytes_of(const Disk& disk) noexcept;
// From anywhere on it, to a caller's memory: how many bytes, fewer only at the end; or -EIO or -EFAULT if not one came.
[[nodiscard]] long read_disk(Disk& disk, char* to, std::size_t count, std::uint64_t offset) noexcept;

}  // namespace janus::bare
