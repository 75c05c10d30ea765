// SPDX-License-Identifier: Apache-2.0
// rt/task/record/price.h — what operations cost. docs/decisions/0188
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus {

// The price list, in ops. docs/budgets.md quotes it; a call that is not free costs kCall, plus the amounts beside it.
//     spawn           and 1 spawn_count, and the memory of its record and stack below an explicit budget
//     send, receive   and 1 channel_op
//     system call     and kSystemCall, and 1 of `syscalls`
//     output          and kSystemCall; 1 of `syscalls`, but on descriptors 1 and 2
//     bulk work       and 1 op for each whole 4 KiB that is copied or written; an element of a channel is such work
// An op stands for up to 100 ns of the runtime's work and the kernel's, as it was measured on the machine of
// docs/hostile.md; what takes less costs one all the same. So a slice of 1,024 ops takes some 0.1 ms, whatever it is
// spent on. How turns are shared does not rest on it (docs/decisions/0187).
namespace price {
inline constexpr std::int64_t kCall = 1;
inline constexpr std::int64_t kSystemCall = 8;
// A cancel wakes or marks each task and nursery that it reaches, for 1 op each. One that meets tasks that seem to run
// fences all threads of the process: a few microseconds of its own CPU, and an interrupt on each other CPU.
inline constexpr std::int64_t kCancel = 8;
inline constexpr unsigned kFence = 32;
inline constexpr std::int64_t kMapping = 16;    // a block or stack of more than 1 MiB, and its return to the kernel
inline constexpr std::int64_t kStatistics = 4;  // and as much again for each worker
inline constexpr std::int64_t kStackStep = 32;  // a fault, and the guard is moved
inline constexpr std::int64_t kPanic = 64;      // its report
inline constexpr std::int64_t kGuess = 64;      // a handle of another task than its record's present one
inline constexpr std::int64_t kBadWait = 16;    // waiting at a channel with memory that cannot be accessed
inline constexpr std::size_t kBytesPerOp = 4096;
inline constexpr std::size_t kRandomBytesPerOp = 32;
// Bulk work gives way after this many bytes.
inline constexpr std::size_t kBytesAtOnce = 65536, kRandomBytesAtOnce = 4096, kFreedAtOnce = std::size_t{2} << 20;
// This many records are looked at, and freed, before others have their turn.
inline constexpr unsigned kRecordsAtOnce = 256;
// Of the nurseries that a task has open, a cancel marks this many; the task marks the others itself.
inline constexpr unsigned kMarksAtOnce = 64;
// A close or a cancel wakes this many tasks, for 1 op each, before others have their turn.
inline constexpr unsigned kWakesAtOnce = 256;
// A task that comes to a channel drops this many waiters with bad memory, or a few with large elements. Then the
// waiters that are left look for themselves: kLooksAtOnce are woken, and each of them wakes as many others.
inline constexpr unsigned kBadWaitsAtOnce = 64, kLooksAtOnce = 8;
inline constexpr std::size_t kBytesPerBadWait = 16384;
// The price of looking at the tags of Heap::kWalkPages pages, which are looked at at once.
inline constexpr std::int64_t kHeapWalk = 16;
// Steps up the tree of tasks for 1 op; each may have to wait for the machine's memory.
inline constexpr unsigned kStepsPerOp = 2;
// A format and its strings are looked at byte by byte: this many for 1 op.
inline constexpr std::size_t kFormattedBytesPerOp = 64;
// The digits of a double are multiplied once for each power of two that it is away from 2^52.
inline constexpr int kMultipliedPerOp = 64;
}  // namespace price

}  // namespace janus
