// SPDX-License-Identifier: Apache-2.0
// rt/task/record/price.h — the prices of operations. docs/decisions/0188
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus {

// Prices in ops; docs/budgets.md quotes them. A call that is not free costs kCall and the amounts listed here:
//     spawn           and 1 spawn_count, and the memory of its record and stack below an explicit budget
//     send, receive   and 1 channel_op
//     system call     and kSystemCall, and 1 of `syscalls`
//     output          and kSystemCall, and 1 of `syscalls` except on descriptors 1 and 2
//     bulk work       and 1 op for each whole 4 KiB that is copied or written; an element of a channel is such work
// An op stands for up to 100 ns of work of the runtime and the kernel, measured on the machine of docs/hostile.md;
// shorter operations also cost one. So a slice of 1,024 ops takes some 0.1 ms, whatever the task does. The sharing of
// turns between groups does not depend on that (docs/decisions/0187).
namespace price {
inline constexpr std::uint64_t kNsPerOp = 100;  // of a task that is ended because it held its worker too long
inline constexpr std::int64_t kCall = 1;
inline constexpr std::int64_t kTimer = 1;  // beside the call that waits
inline constexpr std::int64_t kSystemCall = 8;
// A cancel wakes or marks each task and nursery that it reaches, for 1 op each. A cancel that finds running tasks
// executes a heavy fence: a few microseconds of its own CPU, and an interrupt on each other CPU.
inline constexpr std::int64_t kCancel = 8;
inline constexpr unsigned kFence = 32;
inline constexpr std::int64_t kMapping = 16;    // a block or stack of more than 1 MiB, and its return to the kernel
inline constexpr std::int64_t kStatistics = 4;  // and the same for each worker
inline constexpr std::int64_t kSafepoint = 32;  // all workers stop, and are woken
inline constexpr std::int64_t kStackStep = 32;  // a page fault, and moving the guard
inline constexpr std::int64_t kPanic = 64;      // the report of a panic
inline constexpr std::int64_t kGuess = 64;      // a handle that does not fit its record's present task
inline constexpr std::int64_t kRevoke = 8;      // each later check of a token walks up once
inline constexpr std::int64_t kBadWait = 16;    // waiting at a channel with memory that cannot be accessed
inline constexpr std::size_t kBytesPerOp = 4096;
inline constexpr std::size_t kRandomBytesPerOp = 32;
// Bulk work gives way after this many bytes.
inline constexpr std::size_t kBytesAtOnce = 65536, kRandomBytesAtOnce = 4096, kFreedAtOnce = std::size_t{2} << 20;
// This many records are visited and freed before other tasks run.
inline constexpr unsigned kRecordsAtOnce = 256;
// A cancel marks at most this many of a task's open nurseries; the task marks the others itself.
inline constexpr unsigned kMarksAtOnce = 64;
// A close or a cancel wakes this many tasks, for 1 op each, before other tasks run.
inline constexpr unsigned kWakesAtOnce = 256;
// A task that comes to a channel drops this many waiters with bad memory, or fewer if elements are large. Then
// kLooksAtOnce of the waiters that are left are woken to check their memory themselves, and each wakes as many others.
inline constexpr unsigned kBadWaitsAtOnce = 64, kLooksAtOnce = 8;
inline constexpr std::size_t kBytesPerBadWait = 16384;
// The price of each part in which the end of a cage frees blocks: at most 64 spans, or 32 mappings.
inline constexpr std::int64_t kReclaimPart = 16;
// Cases of a select for 1 op.
inline constexpr unsigned kCasesPerOp = 8;
// Records of tasks that a search by number looks at for 1 op.
inline constexpr unsigned kRecordsPerOp = 32;
// Steps up the tree of tasks for 1 op; each may be a cache miss.
inline constexpr unsigned kStepsPerOp = 2;
// Bytes of a format and its strings that are read for 1 op.
inline constexpr std::size_t kFormattedBytesPerOp = 64;
// Multiplications for 1 op: formatting a double takes one for each power of two between it and 2^52.
inline constexpr int kMultipliedPerOp = 64;
}  // namespace price

}  // namespace janus
