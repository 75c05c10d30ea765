// SPDX-License-Identifier: Apache-2.0
// disk.h — block devices, read only: the first one is /dev/vda. Any thread, interrupts on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus::bare {

struct Disk;
inline constexpr unsigned kMaxDisks = 8;

// The nth disk, which is never freed; nullptr: there is none, or it does not work.
[[nodiscard]] Disk* find_disk(unsigned nth) noexcept;
// A disk that find_disk() has returned before.
[[nodiscard]] Disk& disk_at(unsigned nth) noexcept;
[[nodiscard]] std::uint64_t bytes_of(const Disk& disk) noexcept;
// Reads from any offset to a caller's memory. Returns how many bytes were read, fewer than `count` at the disk's end or
// before an error; -EIO or -EFAULT if an error came first.
[[nodiscard]] long read_disk(Disk& disk, char* to, std::size_t count, std::uint64_t offset) noexcept;

}  // namespace janus::bare
